// The memory of a grade in a batch: what is usual for a lab, and the limits within its share.
//
// idea    A grade holds a share of the batch's memory for one thing at a time. The share is the
//         limit of what runs, so all together stay within what the batch may take. What needs more
//         than is usual is tried once more with all that there is.
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

// What compiling takes, as measured: five passes over CUDA's headers, or over those of CUB as well.
std::uint64_t bytes_to_compile(std::string_view source);

// What running takes, as measured: the device's server with its arrays, the program, and this
// process (`here`), which holds arrays, too.
struct running_need {
  std::uint64_t all = 0, here = 0;
};
running_need bytes_to_run(const lab& l, const problem& p);

// A program that wants more has no use for it.
inline constexpr std::uint64_t most_bytes_to_run = 11'000'000'000;

// Of a share; none for 0. With more than is usual the program may have as much more as the server.
memory_limits limits_within(std::uint64_t share, const running_need& need);

class batch_memory {
 public:
  // Of the environment; `waiting` is called about ten times a second.
  explicit batch_memory(std::function<void()> waiting);

  // Returns what was held, waits for `usual` bytes, and returns what may be used: where the batch
  // has less than is usual, it is what is usual all the same. 0 without a batch.
  std::uint64_t take(std::uint64_t usual);
  // All that there is, `most` at most; 0 if that is no more than what was held.
  std::uint64_t take_all(std::uint64_t most);

 private:
  std::function<void()> waiting_;
  std::optional<shared_memory_budget> all_;
  std::optional<memory_share> share_;
  std::uint64_t held_ = 0;
};

}  // namespace stepwise
