// The output of `lab dev bench --ragged`: the last step's results at random sizes.
// Tested by cli/tests/sweep_text_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

// The median and the worst ratio to each baseline, and a table of the ten worst sizes, from a
// record (measure/ragged/ragged.hpp).
std::vector<std::string> ragged_lines(const json& record, const terminal_style& style);

}  // namespace stepwise::cli
