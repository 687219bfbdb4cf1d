// lab diff: what changes from one version to another.
#include "grader/report/diff.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "grader/cli/commands.hpp"
#include "grader/course/source.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

// A side of the comparison without its leading comment, which differs from step to step anyway.
clean_source side(const std::string& text, bool header) {
  clean_source source = without_markers(text);
  if (header) return source;
  const auto count = static_cast<std::ptrdiff_t>(header_lines(source.lines));
  source.lines.erase(source.lines.begin(), source.lines.begin() + count);
  source.numbers.erase(source.numbers.begin(), source.numbers.begin() + count);
  return source;
}

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

struct version {
  std::string name;  // shown
  std::string text;
};

version load_version(const context& c, const lab& l, const std::string& name) {
  if (name == "mine") {
    return {l.file.string(), read_file(c.where.root / l.file, static_cast<int>(exit_code::usage))};
  }
  if (name.find('/') != std::string::npos || name.ends_with(".cu")) {
    return {c.where.shown(name), read_file(name, static_cast<int>(exit_code::usage))};
  }
  const step& s = find_step(l, name);
  return {s.file.string(), read_file(c.where.root / s.file, static_cast<int>(exit_code::ours))};
}

}  // namespace

bool show_diff(context& c, const std::string& before_name, const std::string& before,
               const std::string& after_name, const std::string& after, bool headers) {
  const clean_source a = side(before, headers), b = side(after, headers);
  const auto lines = line_diff(a.lines, b.lines);
  const auto parts = hunks(lines);
  if (parts.empty()) return false;
  c.say(c.out.paint(tone::removed, "  --- " + before_name));
  c.say(c.out.paint(tone::added, "  +++ " + after_name));
  for (const auto& h : parts) {
    c.say("  " + c.out.paint(tone::place, hunk_title(lines, h, a, b)));
    for (std::size_t i = h.begin; i < h.end; ++i) {
      const char kind = lines[i].kind;
      // The student's file may hold anything; a step's line is never longer than 100 columns.
      const auto text = escaped_lines(lines[i].text, 1, 400);
      const std::string shown = fmt::format("  {}{}", kind, text.empty() ? "" : text[0]);
      c.say(c.out.paint(kind == '+'   ? tone::added
                        : kind == '-' ? tone::removed
                                      : tone::plain,
                        shown));
    }
  }
  return true;
}

int diff(context& c, const diff_options& o) {
  const lab l = load_lab(c.where.root, o.lab);
  const version a = load_version(c, l, o.before), b = load_version(c, l, o.after);
  if (c.as_json) {
    const clean_source from = side(a.text, o.headers), to = side(b.text, o.headers);
    json document = {
        {"lab", l.name}, {"before", a.name}, {"after", b.name}, {"lines", json::array()}};
    for (const auto& line : line_diff(from.lines, to.lines)) {
      const auto number = [](const std::vector<int>& numbers, int index) {
        return index < 0 ? json(nullptr) : json(numbers[static_cast<std::size_t>(index)]);
      };
      document["lines"].push_back({{"kind", std::string(1, line.kind)},
                                   {"before", number(from.numbers, line.old_line)},
                                   {"after", number(to.numbers, line.new_line)},
                                   {"text", line.text}});
    }
    c.print(document);
    return 0;
  }
  if (!show_diff(c, a.name, a.text, b.name, b.text, o.headers)) {
    c.say("no difference" + std::string(o.headers ? "" : " in the code"));
  }
  return 0;
}

}  // namespace stepwise::cli
