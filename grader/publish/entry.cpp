// Reads JSON values that exist and have the right type.
#include "grader/publish/entry.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace stepwise::publish {
namespace {

std::string text_at(const json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::optional<double> number_at(const json& j, const char* key) {
  const auto found = j.find(key);
  if (found == j.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<bool> truth_at(const json& j, const char* key) {
  const auto found = j.find(key);
  if (found == j.end() || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

const json& part(const json& j, const char* key) {
  static const json none;
  const auto found = j.find(key);
  return found == j.end() ? none : *found;
}

// Empty if it is not a list.
const json& list_at(const json& j, const char* key) {
  static const json none = json::array();
  const json& found = part(j, key);
  return found.is_array() ? found : none;
}

std::optional<speed> speed_of(const json& goal) {
  speed s;
  const json& measured = part(goal, "speedup");
  const json& modelled = part(goal, "modelled");
  const json& from = measured.is_object() ? measured : modelled;
  if (!from.is_object()) return std::nullopt;
  s.over = text_at(from, "over");
  s.at_least = number_at(from, "at_least").value_or(0);
  s.ratio = number_at(from, "ratio").value_or(0);
  s.low = number_at(from, "low").value_or(0);
  s.high = number_at(from, "high").value_or(0);
  s.time_ms = number_at(from, "time_ms").value_or(0);
  s.other_ms = number_at(from, "other_time_ms").value_or(0);
  s.pairs = static_cast<int>(number_at(from, "pairs").value_or(0));
  s.modelled_as = text_at(from, "modelled_as");
  return s;
}

goal_entry goal_of(const json& j) {
  goal_entry g;
  g.name = text_at(j, "name");
  g.kind = text_at(j, "kind");
  g.message = text_at(j, "message");
  g.points = number_at(j, "points").value_or(0);
  g.max_points = number_at(j, "max_points").value_or(0);
  g.passed = truth_at(j, "passed");
  g.fast = speed_of(j);
  return g;
}

}  // namespace

std::optional<double> entry::best_ratio() const {
  std::optional<double> best;
  for (const auto& g : goals)
    if (g.fast && g.fast->ratio > 0) best = std::max(best.value_or(0), g.fast->ratio);
  return best;
}

entry read_entry(const json& j) {
  entry e;
  e.id = text_at(j, "id");
  e.name = text_at(j, "name");
  e.file = text_at(j, "file");
  e.verdict = text_at(j, "class");
  e.message = text_at(j, "message");
  e.submission = text_at(j, "submission");
  e.answers = text_at(j, "answers");
  e.submitted_at = text_at(j, "submitted_at");
  e.graded_at = text_at(j, "graded_at");
  e.host = text_at(j, "host");
  e.points = number_at(j, "points");
  e.max_points = number_at(j, "max_points");
  e.late = truth_at(j, "late");
  e.late_s = number_at(j, "late_seconds");
  e.seconds = number_at(j, "seconds").value_or(0);
  e.peak_bytes = number_at(j, "peak_bytes").value_or(0);
  e.attempts = static_cast<int>(number_at(j, "attempts").value_or(0));
  e.key = part(j, "key");
  for (const auto& note : list_at(j, "notes"))
    if (note.is_string()) e.notes.push_back(note.get<std::string>());
  if (const json& a = part(j, "answered"); a.is_object()) {
    e.answered = static_cast<int>(number_at(a, "answered").value_or(0));
    e.questions = static_cast<int>(number_at(a, "questions").value_or(0));
  }
  const json& grade = part(j, "grade");
  e.document = grade;
  e.lab = text_at(grade, "lab");
  e.trust = text_at(grade, "trust");
  e.device = text_at(part(grade, "device"), "name");
  if (text_at(part(grade, "device"), "kind") == "emulated")
    e.device = "the emulator as " + e.device;
  if (const json& seed = part(grade, "seed"); seed.is_number()) e.seed = json_text(seed);
  for (const auto& r : list_at(grade, "remarks")) e.remark = text_at(r, "text");
  e.hint = text_at(part(grade, "hint"), "title");
  for (const auto& layer : list_at(grade, "sandbox"))
    if (!truth_at(layer, "active").value_or(false))
      e.missing_layers.push_back(text_at(layer, "name"));
  for (const auto& g : list_at(grade, "goals")) e.goals.push_back(goal_of(g));
  return e;
}

std::vector<entry> read_entries(const std::vector<json>& all) {
  std::vector<entry> entries;
  for (const auto& j : all) entries.push_back(read_entry(j));
  return entries;
}

std::string number_text(double value) {
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string points_text(const entry& e) {
  if (!e.points) return "no points";
  std::string text = number_text(*e.points);
  if (e.max_points) text += " of " + number_text(*e.max_points);
  return text;
}

}  // namespace stepwise::publish
