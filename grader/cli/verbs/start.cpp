// lab start: gives the student a skeleton, and never loses their earlier work.
#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/answers.hpp"
#include "grader/course/given.hpp"
#include "grader/course/source.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct start_options {
  std::string lab, step;
};

// Text that could not be recovered: neither a skeleton nor an untouched solution.
bool is_work(const context& c, const lab& l, const std::string& text) {
  return std::none_of(l.steps.begin(), l.steps.end(), [&](const step& s) {
    return skeleton_text(c.where.root, l, s) == text ||
           read_if_there(c.where.root / s.file) == text;
  });
}

// Answers are never replaced, because they belong to the whole handout, no matter which step comes
// next.
bool write_answers(const context& c, const lab& l) {
  if (fs::exists(c.where.root / l.answers())) return false;
  const auto handout = whole_handout(c.where.root, l);
  if (!handout) throw failure(exit_code::ours, "there is no " + l.handout().string());
  write_atomically(c.where.root / l.answers(), derive_answers(*handout, l.name));
  return true;
}

// Throws failure(usage) if a student copy lacks this skeleton.
std::string skeleton_for(const context& c, const lab& l, const step& s) {
  if (auto text = skeleton_text(c.where.root, l, s)) return *std::move(text);
  if (l.is_worked) throw failure(exit_code::ours, "there is no " + s.file.string());
  std::string message =
      "the skeleton of " + s.name + " is not in this student copy\navailable skeletons:";
  for (const step& other : l.steps)
    if (fs::exists(c.where.root / other.file)) message += " " + other.name;
  throw failure(exit_code::usage, message);
}

int start(context& c, const start_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const step& s = find_step(l, o.step.empty() ? l.skeleton : o.step);
  const std::string skeleton = skeleton_for(c, l, s);
  const fs::path file = c.where.root / l.file;
  const file_lock lock(c.where.build / "locks" / ("start-" + l.name), [] {});
  const auto before = read_if_there(file);
  std::string kept;
  bool changed = true;
  if (before && *before == skeleton) {
    changed = false;
  } else {
    if (before && is_work(c, l, *before)) kept = c.where.shown(keep_copy(file, *before));
    write_atomically(file, skeleton);
  }
  const bool asked = write_answers(c, l);
  if (c.as_json) {
    c.print({{"lab", l.name},
             {"step", s.name},
             {"file", l.file.string()},
             {"written", changed},
             {"kept", kept.empty() ? json(nullptr) : json(kept)},
             {"answers_file", asked ? json(l.answers().string()) : json(nullptr)}});
    return 0;
  }
  if (!changed)
    c.out.paragraph(fmt::format("{} is already the skeleton of {}. Nothing was changed.",
                                l.file.string(), s.name),
                    0);
  else
    c.out.paragraph(
        fmt::format("{} is now the skeleton of {}: {}", l.file.string(), s.name, s.idea), 0);
  if (!kept.empty()) c.out.paragraph("Your earlier work is saved in " + kept + ".", 0);
  if (asked)
    c.out.paragraph(
        "Write your answers to the handout's questions in " + l.answers().string() + ".", 0);
  const auto todos = find_todos(skeleton).size();
  c.out.paragraph(fmt::format("The file has {} TODO{}. `./lab run {}` lists them.", todos,
                              todos == 1 ? "" : "s", l.name),
                  0);
  return 0;
}

const verb start_verb(
    {verb_place::group::write, 10}, "start",
    "get a skeleton to work on; your earlier work is saved",
    "  ./lab start reduction                the lab's first exercise\n"
    "  ./lab start reduction 03_sequential  any other step as an exercise",
    [](arguments& takes, start_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("STEP", o.step, "the step to write yourself");
    },
    start);

}  // namespace
}  // namespace stepwise::cli
