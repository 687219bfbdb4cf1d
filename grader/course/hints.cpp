// Splits hints.md at its headings outside code.
#include "grader/course/hints.hpp"

#include "grader/course/source.hpp"

namespace stepwise {
namespace {

void trim(std::vector<std::string>& lines) {
  while (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
}

}  // namespace

std::vector<hint_topic> parse_hints(std::string_view text) {
  std::vector<hint_topic> topics;
  bool code = false;
  for (const auto& line : split_lines(text)) {
    if (line.starts_with("```")) code = !code;
    if (!code && line.starts_with("## ")) {
      topics.push_back({line.substr(3), {hint_part{}}});
    } else if (!topics.empty() && !code && line.starts_with("### ")) {
      auto& parts = topics.back().parts;
      trim(parts.back().lines);
      const bool is_first = parts.size() == 1 && parts[0].title.empty() && parts[0].lines.empty();
      if (!is_first) parts.emplace_back();
      parts.back().title = line.substr(4);
    } else if (!topics.empty()) {
      topics.back().parts.back().lines.push_back(line);
    }
  }
  for (auto& topic : topics)
    for (auto& part : topic.parts) trim(part.lines);
  return topics;
}

int find_hint(const std::vector<hint_topic>& all, std::string_view title) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].title == title) return static_cast<int>(i) + 1;
  return 0;
}

}  // namespace stepwise
