// The JSON in which a profile travels from the program that was counted to whoever shows it.
//
// tests   tests/profile_test.cpp; the keys are documented in grader/JSON.md
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/profile.hpp"

namespace stepwise {

// One line: an object with "kernels".
std::string profile_json(const std::vector<kernel_profile>& kernels);

// nullopt if it is no profile (torn, or not ours).
std::optional<std::vector<kernel_profile>> parse_profile(std::string_view text);

}  // namespace stepwise
