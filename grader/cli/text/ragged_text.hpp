// What `lab dev bench --ragged` prints: how the last step did at drawn sizes.
// Tested by cli/tests/sweep_text_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

// Of a record (measure/ragged/ragged.hpp): against each peer median and worst, and a table of the
// ten sizes that are worst.
std::vector<std::string> ragged_lines(const json& record, const terminal_style& style);

}  // namespace stepwise::cli
