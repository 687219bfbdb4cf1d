// What a counted program leaves behind (STEPWISE_COUNTERS=1): its profile, once, when it ends.
//
// output  STEPWISE_PROFILE names a file: the profile is appended to it as one line of JSON
//         (common/report/profile_json.hpp), one line for each process. Else it is shown on stderr.
// watch   A program that is killed, or that ends by _exit, leaves none.
// tests   grader/cli/tests/counters_test.cpp
#pragma once

#include <string>

#include "common/device/device.hpp"

namespace stepwise::runtime {

// The device is about to go: keeps what it has counted. Null is fine.
void keep_profile(device* of);
// A kernel failed, in words: the first one is reported with the profile.
void keep_failure(const std::string& what);

}  // namespace stepwise::runtime
