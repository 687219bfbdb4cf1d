// The JSON format in which a counted program passes its profile to the program that shows it.
//
// tests   tests/profile_test.cpp; the keys are documented in grader/JSON.md
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/profile.hpp"

namespace stepwise {

// One line, an object with "kernels". It has "transfers" if there were any and, if a kernel failed,
// the description "failed".
std::string profile_json(const std::vector<kernel_profile>& kernels, const std::string& failed = {},
                         const device_transfers& transfers = {});

// nullopt if the text is not a profile (truncated, or from another program).
std::optional<std::vector<kernel_profile>> parse_profile(std::string_view text);

// "transfers" of such a line; none if they are missing or malformed.
device_transfers transfers_in_profile(std::string_view text);

// "failed" of such a line; empty if there is none.
std::string failure_in_profile(std::string_view text);

}  // namespace stepwise
