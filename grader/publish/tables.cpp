// CSV, JSON and Moodle's worksheet.
#include <fmt/core.h>

#include <algorithm>

#include "grader/publish/escape.hpp"
#include "grader/publish/formats.hpp"

namespace stepwise::publish {
namespace {

constexpr const char* end_of_line = "\r\n";  // RFC 4180

std::string optional_number(const std::optional<double>& value) {
  return value ? number_text(*value) : std::string{};
}

std::string truth_text(const std::optional<bool>& value) {
  return !value ? "" : *value ? "yes" : "no";
}

void add_row(std::string& to, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) (to += i > 0 ? "," : "") += cells[i];
  to += end_of_line;
}

// The names of all goals, in order of first appearance.
std::vector<std::string> goal_names(const std::vector<entry>& all) {
  std::vector<std::string> names;
  for (const auto& e : all)
    for (const auto& g : e.goals)
      if (std::count(names.begin(), names.end(), g.name) == 0) names.push_back(g.name);
  return names;
}

void make_harmless(json& j) {
  if (j.is_string()) {
    j = json_string(j.get<std::string>());
  } else if (j.is_structured()) {
    for (auto& element : j) make_harmless(element);
  }
}

}  // namespace

std::string csv(const std::vector<entry>& all) {
  const auto goals = goal_names(all);
  std::vector<std::string> heading = {
      "id",   "name",         "class",    "points",    "max_points", "submitted_at",
      "late", "late_seconds", "answered", "questions", "best_ratio", "look",
      "file", "submission",   "seed",     "device",    "message",    "remark"};
  for (const auto& name : goals) heading.push_back("goal: " + name);
  std::string text;
  std::vector<std::string> cells;
  for (const auto& h : heading) cells.push_back(csv_cell(h));
  add_row(text, cells);
  for (const auto& e : all) {
    cells = {csv_cell(e.id),
             csv_cell(e.name),
             csv_cell(e.verdict),
             optional_number(e.points),
             optional_number(e.max_points),
             csv_cell(e.submitted_at),
             truth_text(e.late),
             optional_number(e.late_s),
             e.answered ? std::to_string(*e.answered) : "",
             e.questions ? std::to_string(*e.questions) : "",
             optional_number(e.best_ratio()),
             e.needs_a_look() ? "yes" : "no",
             csv_cell(e.file),
             csv_cell(e.submission),
             csv_cell(e.seed.value_or("")),
             csv_cell(e.device),
             csv_cell(e.message),
             csv_cell(e.remark)};
    for (const auto& name : goals) {
      const auto found = std::find_if(e.goals.begin(), e.goals.end(),
                                      [&](const goal_entry& g) { return g.name == name; });
      const bool counts = found != e.goals.end() && found->passed;
      cells.push_back(counts ? number_text(found->points) : "");
    }
    add_row(text, cells);
  }
  return text;
}

std::string as_json(const std::string& lab, const std::vector<json>& all) {
  json entries = json::array();
  for (json e : all) {
    make_harmless(e);
    entries.push_back(std::move(e));
  }
  return json_text(json({{"lab", lab}, {"entries", entries}}), 1) + "\n";
}

std::string moodle(const std::vector<entry>& all) {
  std::string text;
  add_row(text, {"Identifier", "\"Full name\"", "Status", "Grade", "\"Maximum Grade\"",
                 "\"Grade can be changed\"", "\"Last modified (grade)\"", "\"Feedback comments\""});
  for (const auto& e : all) {
    add_row(text, {csv_cell("Participant " + e.id), csv_cell(e.name), csv_cell(e.verdict),
                   optional_number(e.points), optional_number(e.max_points), "Yes", "\"-\"",
                   csv_cell(feedback(e))});
  }
  return text;
}

std::string feedback(const entry& e) {
  std::string text = e.verdict + ", " + points_text(e);
  if (!e.message.empty()) text += "\n" + e.message;
  for (const auto& g : e.goals) {
    text += "\n" +
            std::string(!g.passed   ? "not graded here"
                        : *g.passed ? "met"
                                    : "missed") +
            " (" + number_text(g.points) + " of " + number_text(g.max_points) + "): " + g.name;
    if (!g.passed.value_or(true) && !g.message.empty() && g.message != e.message)
      text += ": " + g.message;
  }
  return text;
}

}  // namespace stepwise::publish
