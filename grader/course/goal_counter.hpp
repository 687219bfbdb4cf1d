// The counters that a goal in lab.toml can bound, derived from the emulator's counts.
//
// idea    A figure is the ratio of two counts, each summed over all kernels of a call. The
//         contribution of a source line to both counts shows its share of a missed bound. A share
//         of busy lanes is that of the worst kernel, because a kernel that does nothing could raise
//         a sum.
// watch   Work that was never done, such as accesses to shared memory, has no figure, and a goal
//         that bounds this figure is not met. For example, a kernel without shared memory earns no
//         points for its bank conflicts.
// Tested by grade/tests/goal_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/lab/problem.hpp"
#include "common/report/profile.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {

struct goal_counter {
  const char* name;    // in lab.toml
  const char* figure;  // in words, after the number: "sectors per request of global loads"
  const char* absent;  // in words, if there is no figure: "there is no global load"
  // The figure is the call's `count` over the call's `base`, or over the problem's `needed`.
  double (*count)(const profile_counts&) = nullptr;
  double (*base)(const profile_counts&) = nullptr;
  double (*needed)(const problem_work&) = nullptr;
  // For a figure that is a property of the kernels, and so belongs to no line.
  double (*of_call)(const std::vector<kernel_profile>&) = nullptr;
  // Added to `count` for copies and fills on the device. May be null.
  double (*of_transfers)(const device_transfers&) = nullptr;
  // The worst kernel that does part of the work decides the figure, not the sum of all kernels.
  bool by_kernel = false;
};

// All counters, in the order of the table in grader/GOALS.md.
const std::vector<goal_counter>& goal_counters();
const goal_counter* find_goal_counter(std::string_view name);  // null if there is none
// Like find_goal_counter(), but throws failure(code) if there is none. The message is that
// sentence, the nearest name and all names.
const goal_counter& counter_named(const std::string& name, const std::string& sentence,
                                  exit_code code);

// The side of the limit on which a figure meets the goal.
enum class bound { at_most, at_least };

struct goal_figure {
  std::optional<double> value;
  // The line that exceeds the bound the most. Its `line` is 0 if no line does.
  code_place costliest;
  // Threads per block, if its last warp is not full and that alone misses the bound; otherwise 0.
  std::uint64_t threads_of_block = 0;
  // There is no value, because shared memory holds only this share of the data
  // (goal::least_shared).
  std::optional<double> too_little_shared;
  double of_transfers = 0;  // the part of `value` from copies and fills on the device
  // The active lanes per byte of the problem, if there are more than goal::most_active; otherwise
  // 0.
  double too_active = 0;
};
// `most_active` is goal::most_active.
goal_figure figure_of(const goal_counter& what, const std::vector<kernel_profile>& call,
                      const device_transfers& transfers, const problem_work& work, bound side,
                      double limit, double most_active = 0);

// The figure for a counter goal, with its bound.
goal_figure figure_of(const struct goal& g, const std::vector<kernel_profile>& call,
                      const device_transfers& transfers, const problem_work& work);

// The number and the figure's words: "4 sectors per request of global loads", "1 kernel launch".
std::string in_words(const goal_counter& what, double value);

}  // namespace stepwise
