// Finds kernels of a library: CUB's device-wide algorithms, and those of Thrust.
//
// idea    Launches count, not includes, because CUB's block and warp primitives are inlined into
//         the student's own kernels. A kernel is a library's if its lines are in the library's
//         headers. Macros that rename its namespace do not change that, and a #line in the
//         student's file ends with that file.
// Tested by tests/library_kernels_test.cpp and grader/tests/attacks/library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/measure/profiled.hpp"

namespace stepwise {

// The readable name of the first such kernel. Empty if there is none. `root` is the clone, whose
// own path is ignored.
std::string library_kernel(const std::vector<kernel_profile>& kernels,
                           const std::filesystem::path& root);

}  // namespace stepwise
