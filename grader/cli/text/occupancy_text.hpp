// The output of `lab occupancy`: a table of limits, the changes that would lift them, three curves,
// and the curves as SVG.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/measure/occupancy_study.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

std::vector<std::string> occupancy_lines(const occupancy_study& s, const terminal_style& style);
json occupancy_json(const occupancy_study& s);
std::string occupancy_svg(const occupancy_study& s, const std::string& title);

}  // namespace stepwise::cli
