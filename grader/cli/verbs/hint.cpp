// lab hint: help in small portions, from the lab's hints.md.
#include <fmt/core.h>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/source.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct hint_options {
  std::string lab;
  int number = 0;
};

struct hint_text {
  std::string title;
  std::vector<std::string> lines;
};

// The sections of hints.md: a line "## title" begins one.
std::vector<hint_text> parse_hints(const std::string& text) {
  std::vector<hint_text> hints;
  for (const auto& line : split_lines(text)) {
    if (line.starts_with("## ")) {
      hints.push_back({line.substr(3), {}});
    } else if (!hints.empty()) {
      hints.back().lines.push_back(line);
    }
  }
  for (auto& h : hints) {
    while (!h.lines.empty() && h.lines.front().empty()) h.lines.erase(h.lines.begin());
    while (!h.lines.empty() && h.lines.back().empty()) h.lines.pop_back();
  }
  return hints;
}

void show_hint(context& c, const hint_text& h) {
  // Markdown is readable as it is; only paragraphs are filled to the width.
  std::string paragraph;
  const auto flush = [&] {
    if (!paragraph.empty()) c.out.paragraph(paragraph, 2);
    paragraph.clear();
  };
  bool code = false;
  for (const auto& line : h.lines) {
    if (line.starts_with("```")) {
      flush();
      code = !code;
    } else if (code || line.starts_with("    ") || line.starts_with("- ") ||
               line.starts_with("|")) {
      flush();
      c.say((code ? "    " : "  ") + line);
    } else if (line.empty()) {
      flush();
      c.say();
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  flush();
}

int hint(context& c, const hint_options& o) {
  const lab l = load_lab(c.where.root, o.lab);
  const fs::path file = fs::path("labs") / l.name / "hints.md";
  const auto text = read_if_there(c.where.root / file);
  if (!text) throw failure(exit_code::ours, "there is no " + file.string());
  const auto hints = parse_hints(*text);
  const int count = static_cast<int>(hints.size());
  if (o.number < 0 || o.number > count) {
    throw failure(exit_code::usage, fmt::format("the {} lab has hints 1 to {}", l.name, count));
  }
  if (c.as_json) {
    json document = {{"lab", l.name}, {"hints", json::array()}};
    for (int i = 0; i < count; ++i) {
      json entry = {{"number", i + 1}, {"title", hints[static_cast<std::size_t>(i)].title}};
      if (i + 1 == o.number) {
        std::string all;
        for (const auto& line : hints[static_cast<std::size_t>(i)].lines) all += line + "\n";
        entry["text"] = all;
      }
      document["hints"].push_back(entry);
    }
    c.print(document);
    return 0;
  }
  if (o.number == 0) {
    c.say(fmt::format("{} hints for {}; each gives away more than the one before", count, l.name));
    for (int i = 0; i < count; ++i) {
      c.say(fmt::format("  {:>2}  {}", i + 1, hints[static_cast<std::size_t>(i)].title));
    }
    c.say();
    c.say(c.out.paint(tone::dim, "read one  ") + "./lab hint " + l.name + " 1");
    return 0;
  }
  const auto& h = hints[static_cast<std::size_t>(o.number) - 1];
  c.say(c.out.paint(tone::strong, fmt::format("{} of {}: {}", o.number, count, h.title)));
  c.say();
  show_hint(c, h);
  return 0;
}

const verb hint_verb(
    {verb_place::group::study, 70}, "hint", "help in small portions",
    "  ./lab hint reduction     what there is\n  ./lab hint reduction 1   the first one",
    [](arguments& takes, hint_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("N", o.number, "the hint's number");
    },
    hint);

}  // namespace
}  // namespace stepwise::cli
