// lab list: the labs, and the student's progress in each.
#include <fmt/core.h>

#include <utility>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/course/progress.hpp"
#include "grader/report/table.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

// Whether the student's file is a step's skeleton, something else, or missing.
struct own_file {
  std::string state;                    // "not started", "skeleton of 03_tiled", "in work"
  std::string skeleton;                 // the step, if it is its skeleton
  const lab_progress* known = nullptr;  // result for it or for an earlier text
  bool is_current = false;              // `known` is about this text
};

own_file state_of(const context& c, const lab& l, const course_progress& all) {
  own_file own;
  const auto entry = all.labs.find(l.name);
  if (entry != all.labs.end()) own.known = &entry->second;
  const auto mine = read_if_there(c.where.root / l.file);
  if (!mine) return own.state = "not started", own;
  own.skeleton = skeleton_of(c, l, *mine);
  own.state = own.skeleton.empty() ? "in work" : "skeleton of " + own.skeleton;
  own.is_current = own.known != nullptr && own.known->text == hash_of_text(*mine);
  return own;
}

// Whether the grade is about the present text.
bool goals_are_current(const own_file& own) {
  return own.is_current && own.known->text_of_goals == own.known->text;
}

// The next command, and why.
std::pair<std::string, std::string> next_of(const lab& l, const own_file& own) {
  const auto command = [&](const char* verb) {
    return std::string("./lab ") + verb + " " + l.name;
  };
  if (own.state == "not started") return {command("start"), "the skeleton to write in"};
  if (!own.skeleton.empty()) return {command("run"), "write what " + l.file.string() + " lacks"};
  if (!own.is_current) return {command("run"), "is it right as it is now?"};
  const std::string& found = own.known->verdict;
  if (found == "PASS" && goals_are_current(own)) return {command("pack"), "all goals are met"};
  if (found == "SLOW") return {command("hint"), "the next goal; watch tells when it is met"};
  if (found == "PASS" && own.known->by == "run")
    return {command("check"), "it is right; is it clean?"};
  if (found == "PASS") return {command("grade"), "it is right and clean: which goals are met?"};
  if (found == "CHECK") return {command("check"), "the checks found something"};
  return {command("check"), "it is not right yet; the checks often know why"};
}

std::string shown_state(const own_file& own) {
  if (own.state != "in work") return own.skeleton.empty() ? own.state : "skeleton " + own.skeleton;
  if (own.known == nullptr) return own.state;
  if (!own.is_current) return "changed since " + own.known->by;
  return own.known->by + ": " + own.known->verdict;
}

json progress_json(const own_file& own) {
  if (own.known == nullptr) return nullptr;
  const lab_progress& p = *own.known;
  json j = {{"by", p.by}, {"class", p.verdict}, {"when", p.when}, {"current", own.is_current}};
  const bool judged = !p.text_of_goals.empty();
  j["graded"] = judged ? json(p.points) : json(nullptr);
  j["best"] = judged ? json(p.best) : json(nullptr);
  j["met"] = p.met;
  return j;
}

int list(context& c) {
  const auto labs = load_labs(c.where.build);
  json document = {{"labs", json::array()}};
  std::vector<std::vector<cell>> rows;
  const course_progress progress = load_progress(c.where.root);
  std::pair<std::string, std::string> next;  // for the lab of the latest work, or the first
  std::string last;
  for (const auto& l : labs) {
    const own_file own = state_of(c, l, progress);
    const auto todo = next_of(l, own);
    const bool is_done = goals_are_current(own) && own.known->verdict == "PASS";
    const std::string when = own.known != nullptr ? own.known->when : "";
    if (next.first.empty() || (when > last && !is_done)) {
      next = todo;
      last = when;
    }
    document["labs"].push_back({{"name", l.name},
                                {"title", l.title},
                                {"points", l.points()},
                                {"steps", json::array()},
                                {"file", l.file.string()},
                                {"state", own.state},
                                {"next", todo.first},
                                {"progress", progress_json(own)}});
    for (const auto& s : l.steps) document["labs"].back()["steps"].push_back(s.name);
    rows.push_back({{l.name, tone::strong},
                    {l.title},
                    {std::to_string(l.steps.size())},
                    {own.known == nullptr || own.known->text_of_goals.empty()
                         ? fmt::format("{:g}", l.points())
                         : fmt::format("{:g} of {:g}", own.known->points, l.points())},
                    {own.known == nullptr || own.known->text_of_goals.empty()
                         ? fmt::format("{}", l.goals.size())
                         : fmt::format("{} of {}", own.known->met.size(), l.goals.size())},
                    {shown_state(own), is_done                  ? tone::good
                                       : own.state == "in work" ? tone::note
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
  for (const auto& line : table_lines({{"lab"},
                                       {"title", false, true},
                                       {"steps", true},
                                       {"points", true},
                                       {"goals", true},
                                       {"your file"}},
                                      rows, c.out.style())) {
    c.say(line);
  }
  for (const auto& [name, opens] : coming)
    c.say(c.out.paint(tone::dim, name + " opens on " + opens + ": git pull brings it"));
  if (!progress.trouble.empty())
    c.say(c.out.paint(tone::note, progress.trouble) +
          "; what comes of your files is remembered from now on");
  if (!labs.empty()) {
    c.say();
    if (!last.empty())
      c.say(c.out.paint(tone::dim, "next        ") + next.first +
            c.out.paint(tone::dim, "   " + next.second));
    c.say(c.out.paint(tone::dim, "begin with  ") + labs[0].handout().string() +
          c.out.paint(tone::dim, "  and  ") + "./lab start " + labs[0].name);
    c.say(c.out.paint(tone::dim, "then        labs/LAB/README.md, a lab at a time; ") +
          "labs/LAB/deeper.md" + c.out.paint(tone::dim, " goes beyond it"));
  }
  return 0;
}

const verb list_verb({verb_place::group::study, 10}, "list", "show the labs and your progress",
                     "  ./lab list\n  ./lab list --json", list);

}  // namespace
}  // namespace stepwise::cli
