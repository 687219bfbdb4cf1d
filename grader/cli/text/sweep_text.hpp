// The output of `lab sweep`: a table of all points, a chart, and conclusions.
//
// Tested by cli/tests/sweep_text_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/measure/sweep_summary.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

// Name of a failed point's outcome: "WRONG", or "REFUSED" if CUDA does not launch it.
std::string_view outcome_name(const sweep_point& point);

// A row per point. Columns without information (no shared memory, no spills) are omitted. So are
// the less important columns if the terminal has no room.
std::vector<std::string> sweep_table(const sweep_view& view, const terminal_style& style);

// Bars, or a matrix for two axes with several values if the terminal has room for it. Empty if no
// point has a figure.
std::vector<std::string> sweep_chart(const sweep_view& view, const terminal_style& style);

// The fastest point per occupancy, as bars. Empty if sizes differ or all points have the same
// occupancy.
std::vector<std::string> occupancy_chart(const sweep_view& view, const terminal_style& style);

}  // namespace stepwise::cli
