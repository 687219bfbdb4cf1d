// `lab dev validate LAB --lectures`: compares the published figures of lectures with the time
// model's figures.
#pragma once

#include <string>
#include <vector>

#include "grader/cli/context.hpp"

namespace stepwise::cli {

// `steps` is empty for all steps. `record` saves the table to solutions/LAB/lectures.jsonl.
int validate_lectures(context& c, const lab& l, const std::vector<std::string>& steps, bool record);

}  // namespace stepwise::cli
