// The memory of a grade in a batch: a lab's usual need, and the limits within its reservation.
//
// idea    A grade reserves a part of the batch's memory for one task at a time. The reservation
//         limits that task, so all grades together stay within the batch's memory. A task that
//         needs more than usual is tried again with the whole memory.
// Tested by grader/tests/attacks_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "common/lab/problem.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/system/admission.hpp"

namespace stepwise {

// Measured memory of a compilation: five passes over CUDA's headers, or over CUB's as well.
std::uint64_t bytes_to_compile(std::string_view source);

// Measured memory of a run: the device's server with its arrays, the program, and this process
// (`here`), which holds arrays, too.
struct running_need {
  std::uint64_t all = 0, here = 0;
};
running_need bytes_to_run(const lab& l, const problem& p);

// More memory than this would not help a program.
inline constexpr std::uint64_t most_bytes_to_run = 11'000'000'000;

// Limits for a reservation; none for 0. Program and server get equal parts of any extra memory.
memory_limits limits_within(std::uint64_t reserved, const running_need& need);

class batch_memory {
 public:
  // Uses the environment's budget. `waiting` is called about ten times a second.
  explicit batch_memory(std::function<void()> waiting);

  // Releases the held reservation and waits for `usual` bytes. Returns the usable bytes, at least
  // `usual` even if the batch has less. 0 without a batch.
  std::uint64_t take(std::uint64_t usual);
  // Takes all of the memory, up to `most`. Returns 0 if that is no more than the held reservation.
  std::uint64_t take_all(std::uint64_t most);

 private:
  std::function<void()> waiting_;
  std::optional<shared_memory_budget> all_;
  std::optional<memory_reservation> reserved_;
  std::uint64_t held_ = 0;
};

}  // namespace stepwise
