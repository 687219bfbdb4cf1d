// lab list: the labs, and the student's progress in each.
#include <fmt/core.h>

#include "grader/cli/context.hpp"
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

int list(context& c) {
  const auto labs = load_labs(c.where.build);
  json document = {{"labs", json::array()}};
  std::vector<std::vector<cell>> rows;
  const course_progress progress = load_progress(c.where.root);
  const lab* latest = labs.empty() ? nullptr : &labs.front();  // the lab of the latest work
  std::string when;
  for (const auto& l : labs) {
    const own_file own = state_of(c, l, progress);
    const auto next = next_in_lab(l, own);
    const bool is_done = own.is_packed || (own.goals_are_current() && own.known->verdict == "PASS");
    if (own.known && own.known->when > when) {
      latest = &l;
      when = own.known->when;
    }
    document["labs"].push_back({{"name", l.name},
                                {"title", l.title},
                                {"points", l.points()},
                                {"steps", json::array()},
                                {"file", l.file.string()},
                                {"state", own.state},
                                {"next", next ? json(next->command) : json(nullptr)},
                                {"progress", progress_json(own)}});
    for (const auto& s : l.steps) document["labs"].back()["steps"].push_back(s.name);
    rows.push_back(
        {{l.name, tone::strong},
         {l.title},
         {std::to_string(path_of(l).steps.size())},
         {points_cell(own, l.points())},
         {own.has_goals() ? fmt::format("{} of {}", own.known->met.size(), l.goals.size())
                          : fmt::format("{}", l.goals.size())},
         {shown_state(own), is_done                      ? tone::good
                            : own.state == "in progress" ? tone::note
                                                         : tone::plain}});
  }
  const auto coming = coming_labs(c.where.build);
  if (!coming.empty()) document["coming"] = json::array();
  for (const auto& [name, opens] : coming)
    document["coming"].push_back({{"name", name}, {"opens", opens}});
  if (c.as_json) {
    c.print(document);
    return 0;
  }
  c.table({{"lab"},
           {"title", false, true},
           {"steps", true},
           {"points", true},
           {"goals", true},
           {"your file"}},
          rows);
  for (const auto& [name, opens] : coming)
    c.say(c.out.paint(tone::dim, name + " opens on " + opens + ": get it with git pull"));
  if (!progress.trouble.empty())
    c.say(c.out.paint(tone::note, progress.trouble) +
          "; from now on, `lab` remembers the results of your files");
  if (latest == nullptr) return 0;
  const auto label = [&](const char* name) { return "  " + c.out.paint(tone::dim, name); };
  c.say();
  if (const auto next = next_in_course(c, *latest)) {
    const std::string name = next->command.substr(next->command.rfind(' ') + 1);
    c.say(label("next     ") + next->command + c.out.paint(tone::dim, "   " + next->why));
    c.say(label("handout  ") + load_lab(c.where.build, name).handout().string());
  } else {
    c.out.paragraph("You have packed every lab. labs/LAB/deeper.md goes further.", 2);
  }
  return 0;
}

const verb list_verb({verb_place::group::study, 10}, "list", "show the labs and your progress",
                     "  ./lab list\n  ./lab list --json", list);

}  // namespace
}  // namespace stepwise::cli
