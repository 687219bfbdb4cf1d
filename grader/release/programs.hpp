// The programs of a build in a student copy, which then compiles nothing of the course's own.
//
// idea    Meson lists them in build/programs.txt. They lie at the same place in the copy, without
// the
//         files of Ninja and Meson, so the launcher runs them as they are. nvcc is the student's
//         own.
// Tested by tests/release_test.cpp.
#pragma once

#include <filesystem>
#include <vector>

#include "grader/release/plan.hpp"

namespace stepwise {

namespace fs = std::filesystem;

// Copies what the labs `open` need from `build` to `copy`/build. failure(environment) if a program
// is not built, or was built for the processor of this machine alone.
void place_programs(const fs::path& build, const fs::path& copy,
                    const std::vector<released_lab>& open);

}  // namespace stepwise
