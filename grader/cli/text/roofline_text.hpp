// Rooflines as a character chart and as a picture.
// Tested by cli/tests/profile_cli_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/model/roofline.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

// Both axes are logarithmic. Returns a sentence instead if there is nothing to draw.
std::vector<std::string> roofline_lines(const roofline& r, const terminal_style& style);
// All rooflines next to each other in one SVG document.
std::string roofline_svg(const std::vector<roofline>& all, const std::string& title);
json roofline_json(const roofline& r);

}  // namespace stepwise::cli
