// Strips both sources of their markers, and prints the hunks under titles.
#include "grader/cli/text/diff_text.hpp"

#include <fmt/core.h>

#include "grader/report/diff.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

std::string hunk_title(const std::vector<diff_line>& lines, const hunk& h, const clean_source& a,
                       const clean_source& b) {
  int counts[2] = {0, 0}, starts[2] = {0, 0};
  for (std::size_t i = h.begin; i < h.end; ++i) {
    const int indices[2] = {lines[i].old_line, lines[i].new_line};
    for (int k = 0; k < 2; ++k) {
      if (indices[k] < 0) continue;
      const auto& numbers = k == 0 ? a.numbers : b.numbers;
      if (counts[k]++ == 0) starts[k] = numbers[static_cast<std::size_t>(indices[k])];
    }
  }
  return fmt::format("@@ -{},{} +{},{} @@", starts[0], counts[0], starts[1], counts[1]);
}

}  // namespace

clean_source diff_side(const std::string& text, bool header) {
  clean_source source = without_markers(text);
  if (header) return source;
  const auto count = static_cast<std::ptrdiff_t>(header_lines(source.lines));
  source.lines.erase(source.lines.begin(), source.lines.begin() + count);
  source.numbers.erase(source.numbers.begin(), source.numbers.begin() + count);
  return source;
}

bool show_diff(context& c, const std::string& before_name, const std::string& before,
               const std::string& after_name, const std::string& after, bool headers) {
  const clean_source a = diff_side(before, headers), b = diff_side(after, headers);
  const auto lines = line_diff(a.lines, b.lines);
  const auto parts = hunks(lines);
  if (parts.empty()) return false;
  c.say(c.out.paint(tone::removed, "  --- " + before_name));
  c.say(c.out.paint(tone::added, "  +++ " + after_name));
  for (const auto& h : parts) {
    c.say("  " + c.out.paint(tone::place, hunk_title(lines, h, a, b)));
    for (std::size_t i = h.begin; i < h.end; ++i) {
      const char kind = lines[i].kind;
      // The student's file may hold any bytes; a step's line is never longer than 100 columns.
      const tone t = kind == '+' ? tone::added : kind == '-' ? tone::removed : tone::plain;
      c.out.code("  " + c.out.paint(t, std::string(1, kind)), escaped_name(lines[i].text), t);
    }
  }
  return true;
}

}  // namespace stepwise::cli
