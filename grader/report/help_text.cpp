#include "grader/report/help_text.hpp"

#include "grader/report/text.hpp"

namespace stepwise {
namespace {

constexpr std::size_t least_room = 20;  // columns worth filling

struct parts {
  std::string before;     // the columns before the last one
  std::string_view last;  // what may be broken
  std::size_t indent;     // of the lines that follow
};

parts split(std::string_view line) {
  const auto first = line.find_first_not_of(' ');
  const auto gap = line.rfind("  ");
  if (gap != std::string_view::npos && gap + 2 > first) {
    const std::string_view before = line.substr(0, gap + 2);
    return {std::string(before), line.substr(gap + 2), display_width(before)};
  }
  const bool command = line.substr(first).starts_with("./lab ");
  return {std::string(first, ' '), line.substr(first), first + (command ? 4 : 0)};
}

void append_fitted(std::string& fitted, std::string_view line, std::size_t columns) {
  auto [before, last, indent] = split(line);
  const auto end = before.find_last_not_of(' ');
  if (end != std::string::npos && indent + least_room > columns) {
    fitted.append(before, 0, end + 1).append("\n");
    indent = line.find_first_not_of(' ') + 4;
    before.assign(indent, ' ');
  }
  for (const auto& piece : wrapped(last, columns - indent)) {
    fitted.append(before).append(piece).append("\n");
    before.assign(indent, ' ');
  }
}

bool is_prose(std::string_view line) {
  return !line.empty() && line[0] != ' ' && line.find("  ") == std::string_view::npos;
}

}  // namespace

std::string fitted_help(std::string_view help, std::size_t columns) {
  std::string fitted, unfilled;  // the end of a sentence whose next line may go on behind it
  while (!help.empty()) {
    const auto end = help.find('\n');
    std::string line(help.substr(0, end));
    help.remove_prefix(end == std::string_view::npos ? help.size() : end + 1);
    if (!unfilled.empty() && is_prose(line)) {
      line = unfilled + " " + line;
      fitted.resize(fitted.size() - unfilled.size() - 1);
    }
    unfilled.clear();
    if (display_width(line) <= columns) {
      fitted.append(line).append("\n");
      continue;
    }
    append_fitted(fitted, line, columns);
    if (is_prose(line)) unfilled = fitted.substr(fitted.rfind('\n', fitted.size() - 2) + 1);
    if (!unfilled.empty()) unfilled.pop_back();
  }
  return fitted;
}

}  // namespace stepwise
