// lab list, lab hint: what there is to do.
#include <fmt/format.h>

#include <algorithm>

#include "grader/cli/commands.hpp"
#include "grader/course/source.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

// Is the student's file the skeleton of a step, something else, or not there?
std::string state_of(const context& c, const lab& l) {
  const auto mine = read_if_there(c.where.root / l.file);
  if (!mine) return "not started";
  const std::string step = skeleton_of(c, l, *mine);
  return step.empty() ? "in work" : "skeleton of " + step;
}

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

}  // namespace

int list(context& c) {
  const auto labs = load_labs(c.where.root);
  json document = {{"labs", json::array()}};
  std::vector<std::vector<cell>> rows;
  for (const auto& l : labs) {
    const std::string state = state_of(c, l);
    document["labs"].push_back({{"name", l.name},
                                {"title", l.title},
                                {"points", l.points()},
                                {"steps", json::array()},
                                {"file", l.file.string()},
                                {"state", state}});
    for (const auto& s : l.steps) document["labs"].back()["steps"].push_back(s.name);
    rows.push_back({{l.name, tone::strong},
                    {l.title},
                    {std::to_string(l.steps.size())},
                    {fmt::format("{:g}", l.points())},
                    {state, state == "in work" ? tone::note : tone::plain}});
  }
  if (c.as_json) {
    c.print(document);
    return 0;
  }
  for (const auto& line : table_lines(
           {{"lab"}, {"title", false, true}, {"steps", true}, {"points", true}, {"your file"}},
           rows, c.out.style())) {
    c.say(line);
  }
  if (!labs.empty()) {
    c.say();
    c.say(c.out.paint(tone::dim, "begin with  ") + "./lab walk " + labs[0].name);
  }
  return 0;
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

}  // namespace stepwise::cli
