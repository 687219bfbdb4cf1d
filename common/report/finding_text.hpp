// Findings as a person reads them: blocks of lines like a compiler's messages.
//
// idea    A line is a list of spans, each with its role, so that a terminal may colour them and a
//         log file not. Lines are wrapped to a width here, source text is cut.
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
  std::string folder;  // files below it are named relative to it; empty: as they are
  // Host places whose file or function contains one of these are ours, and not shown.
  std::vector<std::string> hidden;
};

// One block, without an empty line at its end.
std::vector<text_line> finding_lines(const located_finding& found, const finding_style& style);

// "3 findings: 1 race, 2 out-of-bounds accesses", "no findings".
std::string findings_summary(const std::vector<located_finding>& all);

// Columns that UTF-8 text takes, one for each character.
std::size_t columns(std::string_view text);
// Control characters become blanks: those in a student's source or names must not reach a terminal.
std::string harmless(std::string text);
// At most `width` columns; a longer text ends with "...".
std::string cut(const std::string& text, std::size_t width);

// How far outside its object a place lies: "just past the end", "2 elements past the end",
// "1 byte before the start"; empty if it lies inside. Messages and the line about the memory both
// use these words, so that they count in the same way: the first missing element is "just past".
std::string distance_words(const finding_object& object);

// In words: "race", "use after free".
const char* title_of(finding_kind kind);

// Where it is, in a few words: "reduction.cu:31", else the host's line, or that of the allocation;
// empty if unknown.
std::string place_of(const located_finding& found, const finding_style& style);

// How to get lines, where host code is named by its functions: a sentence. Empty if none is.
std::string missing_lines_note(const std::vector<located_finding>& all, const finding_style& style);

// The same without colours.
std::string plain_text(const std::vector<text_line>& lines);

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace stepwise
