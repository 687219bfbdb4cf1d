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

}  // namespace

std::string fitted_help(std::string_view help, std::size_t columns) {
  std::string fitted;
  while (!help.empty()) {
    const auto end = help.find('\n');
    const std::string_view line = help.substr(0, end);
    help.remove_prefix(end == std::string_view::npos ? help.size() : end + 1);
    if (display_width(line) <= columns) {
      fitted.append(line).append("\n");
    } else {
      append_fitted(fitted, line, columns);
    }
  }
  return fitted;
}

}  // namespace stepwise
