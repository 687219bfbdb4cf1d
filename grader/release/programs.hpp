// Puts a build's programs into a student copy, which then compiles none of the course's code.
//
// idea    Meson lists the programs in build/programs.txt. They have the same position in the copy,
//         without the files of Ninja and Meson, so the launcher runs them as they are. nvcc is the
//         student's own.
// Tested by tests/release_test.cpp.
#pragma once

#include <filesystem>
#include <vector>

#include "grader/release/plan.hpp"

namespace stepwise {

namespace fs = std::filesystem;

// Throws failure(environment) if a build's programs run only on processors like this machine's.
void need_portable(const fs::path& build);

// Copies the files that the labs `open` need from `build` to `copy`/build. Throws
// failure(environment) if a program is not built.
void place_programs(const fs::path& build, const fs::path& copy,
                    const std::vector<released_lab>& open);

}  // namespace stepwise
