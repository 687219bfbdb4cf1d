// What steps.txt promises of a step's speed, judged by times: of a record, or of `lab dev bench`.
//
// Tested by tests/promises_test.cpp; the records themselves by labs/tests/promises_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

// A step at one of the sizes that its promise holds for. Without a ratio it was not judged: the
// step, or the one that it is compared with, has no time at that size.
struct promise {
  std::string step, over;
  lab_size size;
  double at_least = 0;
  std::optional<double> ratio;

  bool is_broken() const { return ratio && *ratio < at_least; }
};

// Milliseconds of a step's call, cold L2; nullopt if it was not measured.
using step_times = std::function<std::optional<double>(const std::string&, const lab_size&)>;

// Every step that promises something, at every size that its promise holds for.
std::vector<promise> judge_promises(const lab& l, const step_times& time_ms);

// "03_sequential is 1.10 times as fast as 02_strided at 1048576, at least 1.15 was promised".
std::string promise_text(const promise& p);

}  // namespace stepwise
