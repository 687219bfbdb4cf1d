// lab list: what there is to do, and how far it is done.
#include <fmt/core.h>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/report/table.hpp"
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
  const auto coming = coming_labs(c.where.root);
  if (!coming.empty()) document["coming"] = json::array();
  for (const auto& [name, opens] : coming)
    document["coming"].push_back({{"name", name}, {"opens", opens}});
  if (c.as_json) {
    c.print(document);
    return 0;
  }
  for (const auto& line : table_lines(
           {{"lab"}, {"title", false, true}, {"steps", true}, {"points", true}, {"your file"}},
           rows, c.out.style())) {
    c.say(line);
  }
  for (const auto& [name, opens] : coming)
    c.say(c.out.paint(tone::dim, name + " opens on " + opens + ": git pull brings it"));
  if (!labs.empty()) {
    c.say();
    c.say(c.out.paint(tone::dim, "begin with  ") + labs[0].handout().string() +
          c.out.paint(tone::dim, "  and  ") + "./lab start " + labs[0].name);
    c.say(c.out.paint(tone::dim, "then        labs/LAB/README.md, a lab at a time; ") +
          "labs/LAB/deeper.md" + c.out.paint(tone::dim, " goes beyond it"));
  }
  return 0;
}

const verb list_verb({verb_place::group::study, 10}, "list", "the labs, and how far you are",
                     "  ./lab list\n  ./lab list --json", list);

}  // namespace
}  // namespace stepwise::cli
