// One call of a lab's program on the emulator, counted line by line.
// Tested by cli/tests/counters_test.cpp.
#pragma once

#include <filesystem>
#include <vector>

#include "common/lab/problem.hpp"
#include "common/report/profile.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"

namespace stepwise {

struct profiled_call {
  call_outcome found;  // the call; there are no kernels unless it is ok
  std::string label;   // "n = 65536, seed 7"
  std::vector<kernel_profile> kernels;
  device_transfers transfers;
};

// A kernel with accesses that are neither counted nor timed, null if there is none, and a sentence
// about it.
const kernel_profile* uncounted_kernel(const std::vector<kernel_profile>& kernels);
std::string uncounted_text(const kernel_profile& k);
// A sentence about the first timed kernel with many blocks that write nothing, or "".
std::string idle_blocks_text(const std::vector<kernel_profile>& kernels);
// A sentence about the first kernel that computes or stores doubles where floats would do, or "".
// The labs need no double.
std::string doubles_text(const std::vector<kernel_profile>& kernels);

// Time that a program may take to end after its call, before its profile is read. In a judged
// session the server writes the profile, whatever the program does at its end.
inline double seconds_to_leave_a_profile(const device_choice& device) {
  return device.judged() ? 2 : 30;
}

// The outputs of a part's call mean nothing, so they are ignored.
enum class outputs_are { compared, ignored };

// `emulator` must be the emulator.
profiled_call profile_program(const lab& l, const problem& p, const std::filesystem::path& program,
                              const lab_size& size, std::uint64_t seed,
                              const device_choice& emulator, const activity& now,
                              outputs_are outputs = outputs_are::compared);

}  // namespace stepwise
