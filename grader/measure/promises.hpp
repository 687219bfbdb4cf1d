// Judges the speedups that steps.txt promises, by times from a record or from `lab dev bench`.
//
// Tested by tests/promises_test.cpp; the records themselves by labs/tests/promises_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

// A step at one of the sizes for which its promise holds. Without a ratio, it was not judged,
// because the step or the step to compare with has no time at that size.
struct promise {
  std::string step, over;
  lab_size size;
  double at_least = 0;
  std::optional<double> ratio;

  bool is_broken() const { return ratio && *ratio < at_least; }
};

// Time of a step's call in ms, cold L2. nullopt if it was not measured.
using step_times = std::function<std::optional<double>(const std::string&, const lab_size&)>;

// Every step with a promise, at every size for which its promise holds.
std::vector<promise> judge_promises(const lab& l, const step_times& time_ms);

// "03_sequential runs at 1.100x the speed of 02_strided at 1048576; promised: at least 1.15".
std::string promise_text(const promise& p);

}  // namespace stepwise
