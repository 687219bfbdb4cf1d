// Reads and checks the release plan.
#include "grader/release/plan.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "common/formats/toml.hpp"
#include "grader/course/goal_counter.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

[[noreturn]] void refuse_plan(const std::string& origin, int line, const std::string& what) {
  throw failure(exit_code::usage, origin + ":" + std::to_string(line) + ": " + what);
}

std::string day_at(const toml_value& table, std::string_view key, const std::string& origin) {
  const toml_value* value = table.find(key);
  if (value == nullptr) return {};
  const auto text = value->as<std::string>();
  if (!text || !is_day(*text))
    refuse_plan(origin, value->line,
                "`" + std::string(key) + "`: expected a day like \"2026-10-15\"");
  return *text;
}

std::vector<std::string> steps_at(const toml_value& table, const lab& l,
                                  const std::string& origin) {
  const toml_value* value = table.find("skeletons");
  if (value == nullptr) return {};
  std::vector<std::string> steps;
  for (const toml_value& item : value->items) {
    const auto name = item.as<std::string>();
    if (!name) refuse_plan(origin, item.line, "`skeletons` must be a list of steps");
    try {
      steps.push_back(find_step(l, *name).name);
    } catch (const failure& error) {
      refuse_plan(origin, item.line, error.what());
    }
  }
  if (steps.empty()) refuse_plan(origin, value->line, "`skeletons` must be a list of steps");
  return steps;
}

released_lab parse_lab_entry(const toml_value& table, const lab& l, const std::string& origin) {
  static const std::vector<std::string> known = {"due", "hint_parts", "opens", "skeletons"};
  for (const auto& key : table.keys)
    if (std::count(known.begin(), known.end(), key) == 0)
      refuse_plan(origin, table.line,
                  "unknown key `" + key + "`; known for a lab: opens, due, skeletons, hint_parts");
  released_lab entry;
  entry.name = l.name;
  entry.opens = day_at(table, "opens", origin);
  entry.due = day_at(table, "due", origin);
  entry.skeletons = steps_at(table, l, origin);
  if (const toml_value* parts = table.find("hint_parts")) {
    const auto number = parts->as<std::int64_t>().value_or(-1);
    if (number < 1 || number > 3)
      refuse_plan(origin, parts->line, "`hint_parts` must be from 1 to 3");
    entry.hint_parts = static_cast<int>(number);
  }
  return entry;
}

}  // namespace

bool is_day(std::string_view text) {
  int year = 0;
  unsigned month = 0, day = 0;
  const auto number = [&](std::size_t from, std::size_t size, auto& to) {
    const auto part = text.substr(from, size);
    return std::from_chars(part.data(), part.data() + size, to).ptr == part.data() + size;
  };
  return text.size() == 10 && text[4] == '-' && text[7] == '-' && number(0, 4, year) &&
         number(5, 2, month) && number(8, 2, day) &&
         std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month),
                                     std::chrono::day(day))
             .ok();
}

std::vector<released_lab> release_plan::open_on(std::string_view day) const {
  std::vector<released_lab> open;
  for (const auto& l : labs)
    if (l.is_open_on(day)) open.push_back(l);
  return open;
}

release_plan plan_of_all(const std::vector<lab>& labs) {
  release_plan plan;
  for (const lab& l : labs) {
    plan.labs.emplace_back();
    plan.labs.back().name = l.name;
  }
  return plan;
}

release_plan parse_plan(std::string_view text, const std::string& origin,
                        const std::vector<lab>& labs) try {
  const toml_value root = parse_toml(text);
  release_plan plan;
  for (const auto& key : root.keys)
    if (key != "course" && key != "labs")
      refuse_plan(origin, root.find(key)->line, "unknown key `" + key + "`; known: course, labs");
  plan.course = root.as<std::string>("course").value_or("");
  const toml_value* const entries = root.table_at("labs");
  if (entries == nullptr || entries->keys.empty())
    refuse_plan(origin, 1, "names no lab; add, for example, [labs.first]");
  for (const lab& l : labs)
    if (const toml_value* entry = entries->table_at(l.name))
      plan.labs.push_back(parse_lab_entry(*entry, l, origin));
  for (const auto& key : entries->keys) {
    const auto is_this = [&](const lab& l) { return l.name == key; };
    if (std::none_of(labs.begin(), labs.end(), is_this))
      refuse_plan(origin, entries->find(key)->line, "there is no lab \"" + key + "\"");
  }
  return plan;
} catch (const toml_error& error) {
  refuse_plan(origin, error.line, error.what());
}

}  // namespace stepwise
