// Judges a goal whose figures are known, and says what they are.
#pragma once

#include <string>

#include "grader/grade/grade.hpp"

namespace stepwise {

// A part of a time or a figure that a message names: at least so much of it.
inline constexpr double worth_saying = 0.05;

// Judges one speed goal of a correct program, and lets the outcome change the report's class.
void judge_measured(goal_result& result, grade_report& report, const comparison& run,
                    const std::string& mine, double peak_gb_per_s);

// For a goal whose figure was counted in the call with this label.
std::string counter_message(const goal_result& g, const std::string& label);

}  // namespace stepwise
