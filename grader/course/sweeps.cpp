// Parses the tables of lab.toml, and refuses unknown keys and counters.
#include "grader/course/sweeps.hpp"

#include <algorithm>

#include "common/formats/toml.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/sweep_axis.hpp"
#include "grader/course/toml_errors.hpp"

namespace stepwise {
namespace {

void refuse_other_keys(const toml_value& table, const std::vector<std::string>& known,
                       const std::string& where) {
  std::string list;
  for (const auto& name : known) list += (list.empty() ? "" : ", ") + name;
  for (const auto& key : table.keys) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      fail(where, "unknown key `" + key + "`; known are " + list);
    }
  }
}

std::string text_at(const toml_value& table, std::string_view key, const std::string& where) {
  if (const auto value = table.as<std::string>(key); value && !value->empty()) return *value;
  fail(where, "needs `" + std::string(key) + "`, a text");
}

std::vector<std::string> parse_over(const toml_value& table, const std::string& origin,
                                    const std::string& where) {
  const toml_value* list = table.array_at("over");
  if (list == nullptr || list->items.empty()) {
    fail(where, "needs `over`, a list like [\"threads=32..1024\"]");
  }
  std::vector<std::string> over;
  std::vector<sweep_axis> axes;
  for (const auto& entry : list->items) {
    const auto text = entry.as<std::string>();
    if (!text) fail(at_line(origin, entry), "`over` holds texts like \"threads=32..1024\"");
    try {
      axes.push_back(parse_axis(*text));
      combinations(axes);
    } catch (const failure& error) {
      fail(at_line(origin, entry), error.what());
    }
    over.push_back(*text);
  }
  return over;
}

const goal_counter* parse_counter(const toml_value& table, const std::string& where) {
  return table.contains("counter") ? &counter_named(text_at(table, "counter", where),
                                                    where + ": unknown counter", exit_code::ours)
                                   : nullptr;
}

experiment parse_experiment(const toml_value& table, const std::string& origin) {
  const std::string where = at_line(origin, table) + ": experiment";
  refuse_other_keys(table, {"name", "title", "over", "counter", "given"}, where);
  experiment e;
  e.name = text_at(table, "name", where);
  if (table.contains("title")) e.title = text_at(table, "title", where);
  e.over = parse_over(table, origin, where);
  e.counter = parse_counter(table, where);
  if (const toml_value* given = table.find("given")) {
    if (!given->as<bool>()) fail(where, "`given` is true or false");
    e.is_given = *given->as<bool>();
  }
  return e;
}

}  // namespace

const experiment* declared_sweeps::find(std::string_view name) const {
  const auto found = std::find_if(experiments.begin(), experiments.end(),
                                  [&](const experiment& e) { return e.name == name; });
  return found == experiments.end() ? nullptr : &*found;
}

declared_sweeps parse_sweeps(std::string_view text, const std::string& origin) {
  try {
    const toml_value table = parse_toml(text);
    declared_sweeps result;
    if (const toml_value* sweep = table.find("sweep")) {
      const std::string where = at_line(origin, *sweep) + ": [sweep]";
      if (!sweep->is_table()) fail(where, "is a table");
      refuse_other_keys(*sweep, {"step", "over", "counter"}, where);
      result.standard = {text_at(*sweep, "step", where), parse_over(*sweep, origin, where),
                         parse_counter(*sweep, where)};
    }
    if (const toml_value* list = table.find("experiments")) {
      if (!list->is_array() || !std::all_of(list->items.begin(), list->items.end(),
                                            [](const auto& e) { return e.is_table(); })) {
        fail(at_line(origin, *list), "experiments are tables: [[experiments]]");
      }
      for (const auto& entry : list->items) {
        auto e = parse_experiment(entry, origin);
        if (result.find(e.name) != nullptr) {
          fail(at_line(origin, entry), "experiment " + e.name + " is listed twice");
        }
        result.experiments.push_back(std::move(e));
      }
    }
    return result;
  } catch (const toml_error& error) {
    fail(origin + ":" + std::to_string(error.line), error.what());
  }
}

}  // namespace stepwise
