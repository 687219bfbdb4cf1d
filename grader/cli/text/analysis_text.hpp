// The guided analysis in words: the kernel, its limit, the branch that matters, and what to try.
// Tested by cli/tests/profile_cli_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/cli/profile/profile_view.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

// The following functions return sections that start with their titles. Only words longer than the
// width exceed it.
//
// The kernels of a lab's call, with a row per kernel and configuration.
std::vector<std::string> kernel_lines(const profile_view& v, const terminal_style& style);
// The kernels of a program, with a row per kernel, which combines its launches.
std::vector<std::string> launched_lines(const profile_view& v, const terminal_style& style);
std::vector<std::string> limit_lines(const profile_view& v, const terminal_style& style);
std::vector<std::string> branch_lines(const profile_view& v, const terminal_style& style);
std::vector<std::string> advice_lines(const profile_view& v, const terminal_style& style);
// The modelled times with one thing changed, the largest gain first.
std::vector<std::string> experiment_lines(const profile_view& v, const terminal_style& style);

// A program's kernels, grouped as in launched_lines().
json launched_json(const profile_view& v);
json analysis_json(const kernel_analysis& a);
json advice_json(const profile_view& v);
// A header line, then one line per kernel, the most expensive first. Texts are quoted.
std::vector<std::string> profile_csv(const profile_view& v, int multiprocessors);

}  // namespace stepwise::cli
