// Records a command's result for a student's own file.
#include "grader/cli/own_progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "grader/system/files.hpp"

namespace stepwise::cli {

void remember_own(const context& c, const lab& l, const subject& s, const char* by, verdict found,
                  const std::optional<goals_met>& goals) {
  if (s.shown != l.file.string() || found == verdict::infra) return;
  const auto text = read_if_there(c.where.root / l.file);
  if (!text) return;
  lab_progress seen{hash_of_text(*text), by, std::string(name_of(found)), utc_now(), {}, 0, 0, {}};
  if (goals) {
    seen.text_of_goals = seen.text;
    seen.points = goals->points;
    seen.met = goals->names;
  }
  remember(c.where.root, c.where.build, l.name, std::move(seen));
}

own_file state_of(const context& c, const lab& l, const course_progress& all) {
  own_file own;
  const auto entry = all.labs.find(l.name);
  if (entry != all.labs.end()) own.known = entry->second;
  const auto mine = read_if_there(c.where.root / l.file);
  if (!mine) return own.state = "not started", own;
  own.skeleton = skeleton_of(c, l, *mine);
  own.state = own.skeleton.empty() ? "in progress" : "skeleton of " + own.skeleton;
  const std::string text = hash_of_text(*mine);
  // The file may again have the text that it had when its goals were judged.
  if (own.known && own.known->text != text && own.known->text_of_goals == text &&
      !own.known->verdict_of_goals.empty()) {
    own.known->text = text;
    own.known->by = "grade";
    own.known->verdict = own.known->verdict_of_goals;
  }
  own.is_current = own.known && own.known->text == text;
  own.is_packed = own.known && own.known->packed == text;
  return own;
}

std::optional<next_command> next_in_lab(const lab& l, const own_file& own) {
  const auto command = [&](const char* verb, const char* why) {
    return next_command{std::string("./lab ") + verb + " " + l.name, why};
  };
  if (own.state == "not started") return command("start", "writes the skeleton to work in");
  if (!own.skeleton.empty()) return command("run", "tests the file once you have completed it");
  if (own.is_packed) return {};
  if (!own.is_current) return command("run", "tests the file as it is now");
  const std::string& found = own.known->verdict;
  if (found == "PASS" && own.goals_are_current()) return command("pack", "makes your archive");
  if (found == "SLOW") return command("hint", "helps with the next goal");
  if (found == "PASS") return command("grade", "shows which goals are met");
  if (found == "CHECK") return command("check", "shows the findings again");
  return command("check", "often finds why a result is wrong");
}

std::optional<next_command> next_in_course(const context& c, const lab& l) {
  const course_progress progress = load_progress(c.where.root);
  auto labs = load_labs(c.where.build);
  std::ranges::rotate(labs, std::ranges::find(labs, l.name, &lab::name));
  for (const stepwise::lab& one : labs)
    if (auto next = next_in_lab(one, state_of(c, one, progress))) return next;
  return {};
}

void say_labelled(context& c, const char* label, const std::string& command,
                  const std::string& why) {
  constexpr std::size_t column = 11;
  const std::string gap(3, ' ');
  const std::string start = "  " + c.out.paint(tone::dim, fmt::format("{:<9}", label)) + command;
  const auto width = static_cast<std::size_t>(c.out.style().width);
  if (column + command.size() + gap.size() + why.size() <= width)
    return c.say(why.empty() ? start : start + c.out.paint(tone::dim, gap + why));
  c.say(start);
  c.out.paragraph(why, column, {}, tone::dim);
}

void say_next(context& c, const next_command& next) {
  say_labelled(c, "next", next.command, next.why);
}

void show_next(context& c, const lab& l) {
  const auto next = next_in_course(c, l);
  if (c.as_json || !next) return;
  c.say();
  say_next(c, *next);
}

}  // namespace stepwise::cli
