// lab diff: the changes from one version to another.
#include "grader/report/diff.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/context.hpp"
#include "grader/cli/text/diff_text.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/course/source.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct diff_options {
  std::string lab, before, after;
  bool headers = false;
};

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
  if (!l.is_worked && !fs::exists(c.where.root / s.file)) worked_step(l, name);  // explains why
  return {s.file.string(), read_file(c.where.root / s.file, static_cast<int>(exit_code::ours))};
}

version skeleton_version(const context& c, const lab& l) {
  const step& s = find_step(l, l.skeleton);
  const auto text = skeleton_text(c.where.root, l, s);
  if (!text) throw failure(exit_code::ours, "there is no " + s.file.string());
  return {"the skeleton of " + s.name, *text};
}

int diff(context& c, const diff_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const version a = o.before.empty() ? skeleton_version(c, l) : load_version(c, l, o.before);
  const version b = load_version(c, l, o.after.empty() ? "mine" : o.after);
  if (c.as_json) {
    const clean_source from = diff_side(a.text, o.headers), to = diff_side(b.text, o.headers);
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

const verb diff_verb(
    {verb_place::group::more, 10}, "diff", "show the changes between two versions",
    "  ./lab diff reduction                   the skeleton and your file\n"
    "  ./lab diff reduction 02                a step and your file\n"
    "  ./lab diff reduction 02 03             two steps",
    [](arguments& takes, diff_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("A", o.before, "a step, a file, or mine for your file (the first skeleton)");
      takes.add("B", o.after, "a step, a file, or mine (your file)");
      takes.flag("--headers", o.headers, "also compare the leading comments");
    },
    diff);

}  // namespace
}  // namespace stepwise::cli
