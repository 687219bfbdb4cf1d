// Reads the lines of Gradescope's YAML that matter, and a table of times.
#include "grader/batch/metadata.hpp"

#include <algorithm>

#include "grader/batch/names.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::batch {
namespace {

std::string_view stripped(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// A scalar without its quotes.
std::string scalar(std::string_view text) {
  text = stripped(text);
  if (text.size() > 1 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0])
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

template <class Body>
void for_each_line(std::string_view text, Body body) {
  for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const auto end = std::min(text.find('\n', begin), text.size());
    body(text.substr(begin, end - begin), number);
    begin = end + 1;
  }
}

}  // namespace

std::map<std::string, told> gradescope_metadata(std::string_view yaml) {
  std::map<std::string, told> all;
  told* current = nullptr;
  bool of_submitters = false;
  std::string email, number;
  for_each_line(yaml, [&](std::string_view line, std::size_t) {
    constexpr std::string_view start = "submission_";
    if (line.starts_with(start) && line.find(':') != std::string_view::npos) {
      current = &all[std::string(line.substr(start.size(), line.find(':') - start.size()))];
      of_submitters = false;
      return;
    }
    if (current == nullptr) return;
    std::string_view rest = stripped(line);
    const bool of_submission = line.starts_with("  :");
    if (of_submission) of_submitters = rest.starts_with(":submitters:");
    if (rest.starts_with("- ")) rest = stripped(rest.substr(2));
    const auto value = [&](std::string_view key) -> std::optional<std::string> {
      if (!rest.starts_with(key)) return std::nullopt;
      return scalar(rest.substr(key.size()));
    };
    if (of_submission) {
      if (const auto time = value(":created_at:")) current->time = time_of(*time);
    } else if (of_submitters) {
      if (const auto name = value(":name:"))
        current->name += (current->name.empty() ? "" : ", ") + *name;
      // The first one's, of a group.
      if (const auto mail = value(":email:"); mail && current->id.empty()) current->id = *mail;
    }
  });
  return all;
}

std::map<std::string, told> time_table(std::string_view csv, const std::string& origin) {
  std::map<std::string, told> all;
  for_each_line(csv, [&](std::string_view line, std::size_t number) {
    if (stripped(line).empty()) return;
    const auto comma = line.rfind(',');
    told t;
    if (comma != std::string_view::npos) {
      t.id = scalar(line.substr(0, comma));
      t.time = time_of(scalar(line.substr(comma + 1)));
    }
    if (!t.time && number == 1) return;  // a heading
    if (!t.time || t.id.empty()) {
      throw failure(exit_code::usage, origin + ":" + std::to_string(number) +
                                          ": expected an id, a comma and a time such as "
                                          "2026-11-20T23:59:00Z");
    }
    all[t.id] = t;
  });
  return all;
}

}  // namespace stepwise::batch
