// The counters that a goal in lab.toml can bound: figures derived from what the emulator counts.
//
// idea    A figure is one count over another, each summed over all kernels of a call. What a source
//         line adds to both shows how much of a missed bound is due to it.
// watch   What was never done (no access to shared memory, say) has no figure, and a goal that
//         bounds it is not met: a kernel without shared memory deserves nothing for its bank
//         conflicts.
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
  const char* absent;  // in words, where there is no figure: "there is no global load"
  // The figure is `count` of the call over `base` of the call, or over that of the problem.
  double (*count)(const profile_counts&) = nullptr;
  double (*base)(const profile_counts&) = nullptr;
  double (*needed)(const problem_work&) = nullptr;
  // Or it is a property of the kernels, and no line's.
  double (*of_call)(const std::vector<kernel_profile>&) = nullptr;
  // Copies and fills on the device add this to `count`; null: nothing.
  double (*of_transfers)(const device_transfers&) = nullptr;
};

// All there are, in the order of the table in grader/GOALS.md.
const std::vector<goal_counter>& goal_counters();
const goal_counter* find_goal_counter(std::string_view name);  // null if there is none
// The same; if there is none, failure(code) with this sentence, the nearest name, and all names.
const goal_counter& counter_named(const std::string& name, const std::string& sentence,
                                  exit_code code);

// Which side of the bound is right.
enum class bound { at_most, at_least };

struct goal_figure {
  std::optional<double> value;
  // The line that is furthest beyond the bound; its `line` is 0 if no line is.
  code_place costliest;
  // There is no value because shared memory has only this share of the data (goal::least_shared).
  std::optional<double> too_little_shared;
  double of_transfers = 0;  // the part of `value` that copies and fills on the device add
};
goal_figure figure_of(const goal_counter& what, const std::vector<kernel_profile>& call,
                      const device_transfers& transfers, const problem_work& work, bound side,
                      double limit);

// Of a goal of this kind, with its bound.
goal_figure figure_of(const struct goal& g, const std::vector<kernel_profile>& call,
                      const device_transfers& transfers, const problem_work& work);

// The number and the figure's words: "4 sectors per request of global loads", "1 kernel launch".
std::string in_words(const goal_counter& what, double value);

}  // namespace stepwise
