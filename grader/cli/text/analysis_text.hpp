// The guided analysis in words: which kernel, what limits it, the branch that matters, what to try.
// Tested by cli/tests/profile_cli_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/measure/occupancy_study.hpp"
#include "grader/model/advice.hpp"
#include "grader/model/modelled.hpp"
#include "grader/model/recorded_times.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

// A call that has a time, and what is made of it. What it points to must outlive it.
struct profile_view {
  const lab* of = nullptr;
  const modelled_figures* m = nullptr;
  const recorded_times* recorded = nullptr;  // of the GPU that is stood for
  const step* at = nullptr;                  // null: a file that is no step
  kernel_analysis dearest;
  std::vector<found_cause> found;
  std::optional<occupancy_study> room;  // of the dearest kernel; none: the GPU's rules are unknown
  std::optional<suggestion> next;

  std::optional<double> recorded_ms(const step* s) const;
};

// Sections, each with its title first. `width` is respected but for words that are longer.
std::vector<std::string> kernel_lines(const profile_view& v, const terminal_style& style);
std::vector<std::string> limit_lines(const profile_view& v, const terminal_style& style);
std::vector<std::string> branch_lines(const profile_view& v, const terminal_style& style);
std::vector<std::string> advice_lines(const profile_view& v, const terminal_style& style);
// What the model says if one thing were different, the largest gain first.
std::vector<std::string> experiment_lines(const profile_view& v, const terminal_style& style);

json analysis_json(const kernel_analysis& a);
json advice_json(const profile_view& v);
// A line of names, then one for each kernel, the dearest first. Texts stand in quotes.
std::vector<std::string> profile_csv(const profile_view& v, int multiprocessors);

}  // namespace stepwise::cli
