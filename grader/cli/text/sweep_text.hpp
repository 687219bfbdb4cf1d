// What `lab sweep` prints: a table of all points, a chart, and what they say.
//
// Tested by cli/tests/sweep_text_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/measure/sweep_summary.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

// Of a point that is not right: "WRONG", "REFUSED" if CUDA does not launch it.
std::string_view outcome_name(const sweep_point& point);

// A row for each point. Columns that say nothing (no shared memory, no spills) are left out, and
// of those that the terminal has no room for the less important ones.
std::vector<std::string> sweep_table(const sweep_view& view, const terminal_style& style);

// Bars, or a matrix for two axes that have several values, if the terminal has room for it. Empty
// if no point has a figure.
std::vector<std::string> sweep_chart(const sweep_view& view, const terminal_style& style);

// Of timed points of one size, the best at each occupancy, as bars; empty if all have the same.
std::vector<std::string> occupancy_chart(const sweep_view& view, const terminal_style& style);

}  // namespace stepwise::cli
