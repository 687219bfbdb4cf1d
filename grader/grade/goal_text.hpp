// Judges a goal whose figures are known, and describes the figures.
#pragma once

#include <string>

#include "grader/grade/grade.hpp"

namespace stepwise {

// The least fraction of a time or a figure that a message mentions.
inline constexpr double worth_saying = 0.05;

// Judges one speed goal of a correct program. The outcome may change the report's class.
void judge_measured(goal_result& result, grade_report& report, const comparison& run,
                    const std::string& mine, double peak_gb_per_s);

// The message for a goal whose figure was counted in the call with this label.
std::string counter_message(const goal_result& g, const std::string& label);

}  // namespace stepwise
