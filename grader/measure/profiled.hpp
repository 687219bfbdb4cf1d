// One call of a lab's program on the emulator, counted line by line.
// Tested by tests/counters_test.cpp.
#pragma once

#include <filesystem>
#include <vector>

#include "common/lab/problem.hpp"
#include "common/report/profile.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"

namespace stepwise {

struct profiled_call {
  call_outcome found;  // of the call; there are no kernels unless it is ok
  std::string label;   // "n = 65536, seed 7"
  std::vector<kernel_profile> kernels;
};

// Of a yardstick's call the outputs mean nothing.
enum class outputs_are { compared, ignored };

// `emulator` must be the emulator.
profiled_call profile_program(const lab& l, const problem& p, const std::filesystem::path& program,
                              const lab_size& size, std::uint64_t seed,
                              const device_choice& emulator, const activity& now,
                              outputs_are outputs = outputs_are::compared);

}  // namespace stepwise
