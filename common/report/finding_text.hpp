// Findings as text: blocks of lines like a compiler's messages.
//
// idea    A line is a list of spans with roles, so a terminal may colour the spans and a log file
//         need not. Lines are wrapped to a width, and source text is truncated.
// tests   tests/finding_test.cpp
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/report/located_finding.hpp"

namespace stepwise {

enum class text_role { plain, error_kind, warning_kind, strong, place, source, dim };

struct text_span {
  text_role role = text_role::plain;
  std::string text;
};
using text_line = std::vector<text_span>;

struct finding_style {
  std::size_t width = 80;
  std::string folder;  // paths in this folder become relative; empty: no change
  // Hides host places whose file or function contains one of these names, because they are our own
  // code.
  std::vector<std::string> hidden;
};

// The block for one finding, without an empty line at its end.
std::vector<text_line> finding_lines(const located_finding& found, const finding_style& style);

// For example "3 findings: 1 race, 2 out-of-bounds accesses" or "no findings".
std::string findings_summary(const std::vector<located_finding>& all);

// The number of columns of UTF-8 text, one per character.
std::size_t columns(std::string_view text);
// Replaces control characters with spaces, so that those in source code or names do not reach a
// terminal.
std::string harmless(std::string text);
// Truncates text to `width` columns. Truncated text ends with "...".
std::string cut(const std::string& text, std::size_t width);

// The distance of an access from its object: "just past the end", "2 elements past the end",
// "1 byte before the start"; empty inside the object. Messages and the memory line both use this,
// so they count in the same way: the first element outside is "just past the end".
std::string distance_words(const finding_object& object);

// For example "race" or "use after free".
const char* title_of(finding_kind kind);

// The line of a finding, for example "reduction.cu:31". If the device line is unknown, this is the
// line of the host or of the allocation. Empty if all are unknown.
std::string place_of(const located_finding& found, const finding_style& style);

// A sentence that explains how to get lines of host code, or empty if no lines are missing.
std::string missing_lines_note(const std::vector<located_finding>& all, const finding_style& style);

// The lines as text without colours.
std::string plain_text(const std::vector<text_line>& lines);

// Formats 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace stepwise
