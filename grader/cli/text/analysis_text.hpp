// The guided analysis in words: which kernel, what limits it, the branch that matters, what to try.
// Tested by cli/tests/profile_cli_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/cli/profile/profile_view.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

// Sections, each with its title first. `width` is respected but for words that are longer.
// Of a lab's call: a row for each kernel and configuration.
std::vector<std::string> kernel_lines(const profile_view& v, const terminal_style& style);
// Of a program: a row for each kernel, its launches together.
std::vector<std::string> launched_lines(const profile_view& v, const terminal_style& style);
std::vector<std::string> limit_lines(const profile_view& v, const terminal_style& style);
std::vector<std::string> branch_lines(const profile_view& v, const terminal_style& style);
std::vector<std::string> advice_lines(const profile_view& v, const terminal_style& style);
// What the model says if one thing were different, the largest gain first.
std::vector<std::string> experiment_lines(const profile_view& v, const terminal_style& style);

// A program's kernels, as launched_lines() has them.
json launched_json(const profile_view& v);
json analysis_json(const kernel_analysis& a);
json advice_json(const profile_view& v);
// A line of names, then one for each kernel, the most expensive first. Texts stand in quotes.
std::vector<std::string> profile_csv(const profile_view& v, int multiprocessors);

}  // namespace stepwise::cli
