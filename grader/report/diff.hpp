// The difference between two sources as unified hunks.
//
// Tested by tests/report_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace stepwise {

struct diff_line {
  char kind = ' ';                 // ' ' both, '-' only old, '+' only new
  int old_line = 0, new_line = 0;  // indices into the two sides, from 0; -1 if absent
  std::string text;
};

// A shortest edit script by the longest common subsequence of lines; removals before additions.
std::vector<diff_line> line_diff(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after);

// [begin, end) ranges of `lines` that hold the changes with `context` equal lines around them.
struct hunk {
  std::size_t begin = 0, end = 0;
};
std::vector<hunk> hunks(const std::vector<diff_line>& lines, std::size_t context = 3);

}  // namespace stepwise
