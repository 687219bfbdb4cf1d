// lab list: the labs, and the student's progress in each. Also the overview of `./lab` alone.
#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/context.hpp"
#include "grader/cli/overview.hpp"
#include "grader/cli/own_progress.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/report/table.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

std::string shown_state(const own_file& own) {
  if (own.state != "in progress")
    return own.skeleton.empty() ? own.state : "skeleton " + own.skeleton;
  if (!own.known) return own.state;
  if (own.is_packed) return "packed";
  if (!own.is_current) return "changed since " + own.known->by;
  return own.known->by + ": " + own.known->verdict;
}

json progress_json(const own_file& own) {
  if (!own.known) return nullptr;
  const lab_progress& p = *own.known;
  json j = {{"by", p.by},
            {"class", p.verdict},
            {"when", p.when},
            {"current", own.is_current},
            {"packed", own.is_packed}};
  const bool judged = !p.text_of_goals.empty();
  j["graded"] = judged ? json(p.points) : json(nullptr);
  j["best"] = judged ? json(p.best) : json(nullptr);
  j["met"] = p.met;
  return j;
}

// "60 of 100", "0 of 100 (best 60)", or "100" before the goals are judged.
std::string points_cell(const own_file& own, double all) {
  if (!own.has_goals()) return fmt::format("{:g}", all);
  const std::string text = fmt::format("{:g} of {:g}", own.known->points, all);
  return own.known->best > own.known->points ? text + fmt::format(" (best {:g})", own.known->best)
                                             : text;
}

// The labs in the course's order, each with the student's file.
struct course_state {
  std::vector<lab> labs;
  std::vector<own_file> own;
  std::string trouble;  // with the progress file

  explicit course_state(const context& c) : labs(load_labs(c.where.build)) {
    const course_progress progress = load_progress(c.where.root);
    for (const lab& l : labs) own.push_back(state_of(c, l, progress));
    trouble = progress.trouble;
  }

  // The lab of the latest work, or the first lab. Null if there are no labs.
  const lab* latest() const {
    std::size_t found = 0;
    std::string when;
    for (std::size_t i = 0; i < labs.size(); ++i) {
      if (!own[i].known || own[i].known->when <= when) continue;
      found = i;
      when = own[i].known->when;
    }
    return labs.empty() ? nullptr : &labs[found];
  }
};

json lab_json(const lab& l, const own_file& own) {
  const auto next = next_in_lab(l, own);
  json j = {{"name", l.name},
            {"title", l.title},
            {"points", l.points()},
            {"steps", json::array()},
            {"file", l.file.string()},
            {"state", own.state},
            {"next", next ? json(next->command) : json(nullptr)},
            {"progress", progress_json(own)}};
  for (const auto& s : l.steps) j["steps"].push_back(s.name);
  return j;
}

std::vector<cell> lab_row(const lab& l, const own_file& own) {
  const bool is_done = own.is_packed || (own.goals_are_current() && own.known->verdict == "PASS");
  return {{l.name, tone::strong},
          {l.title},
          {std::to_string(path_of(l).steps.size())},
          {points_cell(own, l.points())},
          {own.has_goals() ? fmt::format("{} of {}", own.known->met.size(), l.goals.size())
                           : fmt::format("{}", l.goals.size())},
          {shown_state(own), is_done                      ? tone::good
                             : own.state == "in progress" ? tone::note
                                                          : tone::plain}};
}

void say_next_after(context& c, const lab& latest) {
  if (const auto next = next_in_course(c, latest)) {
    const std::string name = next->command.substr(next->command.rfind(' ') + 1);
    say_next(c, *next);
    say_labelled(c, "handout", load_lab(c.where.build, name).handout().string());
  } else {
    c.out.paragraph("You have packed every lab. labs/LAB/deeper.md goes further.", 2);
  }
}

int list(context& c) {
  const course_state course(c);
  const auto coming = coming_labs(c.where.build);
  if (c.as_json) {
    json document = {{"labs", json::array()}};
    for (std::size_t i = 0; i < course.labs.size(); ++i)
      document["labs"].push_back(lab_json(course.labs[i], course.own[i]));
    if (!coming.empty()) document["coming"] = json::array();
    for (const auto& [name, opens] : coming)
      document["coming"].push_back({{"name", name}, {"opens", opens}});
    c.print(document);
    return 0;
  }
  std::vector<std::vector<cell>> rows;
  for (std::size_t i = 0; i < course.labs.size(); ++i)
    rows.push_back(lab_row(course.labs[i], course.own[i]));
  c.table({{"lab"},
           {"title", false, true},
           {"steps", true},
           {"points", true},
           {"goals", true},
           {"your file"}},
          rows);
  for (const auto& [name, opens] : coming)
    c.say(c.out.paint(tone::dim, name + " opens on " + opens + ": get it with git pull"));
  if (!course.trouble.empty())
    c.say(c.out.paint(tone::note, course.trouble) +
          "; from now on, `lab` remembers the results of your files");
  c.say();
  if (const lab* const latest = course.latest()) say_next_after(c, *latest);
  return 0;
}

const verb list_verb({verb_place::group::learn, 10}, "list", "show the labs and your progress",
                     "  ./lab list\n  ./lab list --json", list);

// "reduction  ██████░░░░  60 of 100"
std::string points_line(const context& c, const lab& l, const own_file& own, std::size_t width) {
  const double points = own.has_goals() ? own.known->points : 0;
  const std::string bar = meter(points / l.points(), 10, c.out.style());
  return c.out.paint(tone::strong, fmt::format("{:<{}}", l.name, width)) + "  " +
         c.out.paint(tone::good, bar) + fmt::format("  {:>3g} of {:<3g}", points, l.points());
}

}  // namespace

int overview(context& c) {
  const course_state course(c);
  c.say("Stepwise: learn to optimise CUDA kernels, one idea at a time.");
  c.say();
  std::size_t width = 0;
  for (const lab& l : course.labs) width = std::max(width, l.name.size());
  constexpr std::size_t columns_of_points = 24, gap = 4;
  const bool fits_twice =
      2 * (width + columns_of_points + gap) <= static_cast<std::size_t>(c.out.style().width);
  const std::size_t rows = fits_twice ? (course.labs.size() + 1) / 2 : course.labs.size();
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line;
    for (std::size_t i = row; i < course.labs.size(); i += rows)
      line += std::string(line.empty() ? 2 : gap, ' ') +
              points_line(c, course.labs[i], course.own[i], width);
    c.say(line);
  }
  c.say();
  if (const lab* const latest = course.latest()) say_next_after(c, *latest);
  say_labelled(c, "help", "./lab help", "lists the commands");
  return 0;
}

}  // namespace stepwise::cli
