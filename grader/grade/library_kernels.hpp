// Kernels that a library brings: CUB's device-wide algorithms, and those of Thrust.
//
// idea    What counts is what was launched, not what the file includes: CUB's parts for blocks and
//         warps are inlined into the student's own kernels. A kernel is a library's if its lines
//         lie in the library's headers. Macros that rename its namespace do not change that, and a
//         #line in the student's file ends with that file.
// Tested by tests/library_kernels_test.cpp and grader/tests/attacks/library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/measure/profiled.hpp"

namespace stepwise {

// The readable name of the first such kernel; empty if there is none. `root`: the clone, whose own
// path means nothing.
std::string library_kernel(const std::vector<kernel_profile>& kernels,
                           const std::filesystem::path& root);

}  // namespace stepwise
