// Two calls side by side, in words.
// Tested by cli/tests/profile_cli_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/model/comparison.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

struct compared_names {
  std::string before, after;                            // "02_strided"
  std::optional<double> before_ms = {}, after_ms = {};  // recorded by the course
};

std::vector<std::string> comparison_lines(const call_comparison& c, const compared_names& names,
                                          const terminal_style& style);
json comparison_json(const call_comparison& c);  // a list of figures

}  // namespace stepwise::cli
