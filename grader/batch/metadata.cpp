// Reads the relevant lines of Gradescope's YAML, and a table of times.
#include "grader/batch/metadata.hpp"

#include <algorithm>

#include "grader/batch/names.hpp"
#include "grader/course/source.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::batch {
namespace {

// A scalar without its quotes.
std::string scalar(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 1 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0])
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

}  // namespace

gradescope_facts gradescope_metadata(std::string_view yaml) {
  gradescope_facts all;
  submission_facts* current = nullptr;
  bool of_submitters = false;
  for (const std::string& line : split_lines(yaml)) {
    constexpr std::string_view start = "submission_";
    if (line.starts_with(start) && line.find(':') != std::string::npos) {
      const std::string number = line.substr(start.size(), line.find(':') - start.size());
      const auto [place, is_new] = all.by_number.try_emplace(number);
      current = is_new ? &place->second : nullptr;
      if (!is_new) all.repeated.push_back(number);
      of_submitters = false;
      continue;
    }
    if (current == nullptr) continue;
    const auto value = [&](std::string_view key) -> std::optional<std::string> {
      if (!line.starts_with(key)) return std::nullopt;
      return scalar(line.substr(key.size()));
    };
    if (line.starts_with("  :")) {
      of_submitters = line.starts_with("  :submitters:");
      if (const auto time = value("  :created_at:"); time && !current->time)
        current->time = time_of(*time);
    } else if (of_submitters) {
      // A list's first key follows its dash, and the other keys are below it.
      const auto entry = [&](const std::string& key) {
        const auto first = value("  - " + key);
        return first ? first : value("    " + key);
      };
      if (const auto name = entry(":name:"))
        current->name += (current->name.empty() ? "" : ", ") + *name;
      // A group has the id of its first member.
      if (const auto mail = entry(":email:"); mail && current->id.empty()) current->id = *mail;
    }
  }
  return all;
}

std::map<std::string, std::int64_t> time_table(std::string_view csv, const std::string& origin) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (csv.starts_with(byte_order_mark)) csv.remove_prefix(byte_order_mark.size());
  std::map<std::string, std::int64_t> all;
  const auto lines = split_lines(csv);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = trimmed(lines[i]);
    if (line.empty()) continue;
    const auto comma = std::min(line.rfind(','), line.size());
    const std::string id = scalar(line.substr(0, comma));
    const auto time = time_of(scalar(line.substr(std::min(comma + 1, line.size()))));
    if (!time && i == 0) continue;  // a heading
    if (!time || id.empty()) {
      throw failure(exit_code::usage, origin + ":" + std::to_string(i + 1) +
                                          ": expected an id, a comma and a time such as "
                                          "2026-11-20T23:59:00Z");
    }
    all[id] = *time;
  }
  return all;
}

}  // namespace stepwise::batch
