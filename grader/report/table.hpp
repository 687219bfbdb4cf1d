// Tables and bar charts that fit the terminal.
//
// Tested by tests/report_test.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "grader/report/terminal.hpp"

namespace stepwise {

struct cell {
  std::string text;
  tone t = tone::plain;
};

struct column {
  std::string title;
  bool right = false;     // numbers
  bool flexible = false;  // shortened when the table is wider than the terminal; at most one
  bool optional = false;  // flexible, and omitted instead of shortened to under 24 columns
  bool wraps = false;     // the last column: continued on further lines instead of shortened
};

// The lines of the table: titles, a rule, the rows. No line is wider than style.width unless the
// inflexible columns alone are.
std::vector<std::string> table_lines(const std::vector<column>& columns,
                                     const std::vector<std::vector<cell>>& rows,
                                     const terminal_style& style);

struct bar {
  std::string label;
  double value = 0;  // bar length as a fraction of the largest; drawn if positive
  std::string text;  // after the bar
  tone t = tone::plain;
};

// A bar of `cells` columns, of which the fraction `share` is full: "███░░░░░░░".
std::string meter(double share, std::size_t cells, const terminal_style& style);

// One line per bar: label, bar, text. No line is wider than style.width.
std::vector<std::string> bar_lines(const std::vector<bar>& bars, const terminal_style& style);

}  // namespace stepwise
