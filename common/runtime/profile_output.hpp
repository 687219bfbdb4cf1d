// Writes a program's profile when the program ends (STEPWISE_COUNTERS=1).
//
// output  If STEPWISE_PROFILE names a file, the profile is appended to it as one line of JSON per
//         process (common/report/profile_json.hpp). Otherwise, it is printed on stderr.
// watch   A program that is killed or that ends by _exit writes no profile.
// tests   grader/cli/tests/counters_test.cpp
#pragma once

#include <string>

#include "common/device/device.hpp"

namespace stepwise::runtime {

// Keeps the counts of a device that is about to be destroyed. Null is allowed.
void keep_profile(device* of);
// Keeps the description of a kernel's failure. The first failure is reported with the profile.
void keep_failure(const std::string& what);

}  // namespace stepwise::runtime
