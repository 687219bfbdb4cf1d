// Makes one call with the user's own input, and checks its outputs.
//
// Tested by tests/session_test.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/lab/problem.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/device_choice.hpp"

namespace stepwise {

struct one_call_report {
  check_report report;  // about one size, which is the call's
  // The outputs, right or wrong, in the contract's order. Empty if the call did not finish.
  std::vector<std::vector<std::byte>> outputs;
};

// Makes the call and compares. The emulator uses all cores. The lab's time limit is for its check
// sizes. A call that is larger by a factor of `times_largest` gets a limit that is larger by the
// same factor.
one_call_report check_one_call(const lab& l, const problem& p, const std::filesystem::path& program,
                               const device_choice& device, const problem_call& call,
                               double times_largest, const activity& now);

}  // namespace stepwise
