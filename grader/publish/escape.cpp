// Makes text harmless first, then escapes a format's syntax.
#include "grader/publish/escape.hpp"

#include <algorithm>

#include "grader/report/text.hpp"

namespace stepwise::publish {
namespace {

// GitHub's commands: the older form anywhere, the newer one after a line's white space. Its runner
// takes Unicode's white space for that, too, so no character beyond ASCII hides a command here.
void break_commands(std::string& text) {
  for (auto at = text.find("##["); at != std::string::npos; at = text.find("##[", at + 4))
    text.insert(at + 2, " ");
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    auto first = begin;
    while (first < text.size() && (text[first] == ' ' || (text[first] & 0x80) != 0)) ++first;
    if (text.compare(first, 2, "::") == 0) text.insert(first + 1, " ");
    begin = std::min(text.find('\n', begin), text.size());
  }
}

}  // namespace

std::string harmless(std::string_view text, std::size_t lines, std::size_t columns) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string all;
  for (const auto& line : escaped_lines(text, lines, columns)) {
    if (!all.empty()) all += '\n';
    all += line;
  }
  break_commands(all);
  return all;
}

std::string harmless_line(std::string_view text, std::size_t columns) {
  std::string all = harmless(text, 8, columns);
  for (auto at = all.find('\n'); at != std::string::npos; at = all.find('\n'))
    all.replace(at, 1, " / ");
  break_commands(all);
  return shortened(all, columns);
}

std::string xml_text(std::string_view text, std::size_t lines, std::size_t columns) {
  std::string escaped;
  for (const char c : harmless(text, lines, columns)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      case '\n':
        escaped += "&#10;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string csv_cell(std::string_view text) {
  std::string cell = harmless_line(text);
  // Blanks before a formula do not stop every spreadsheet; ":" would begin a workflow command.
  const auto first = cell.find_first_not_of(' ');
  if (first != std::string::npos &&
      std::string_view("=+-@:|%").find(cell[first]) != std::string::npos)
    cell.insert(0, "'");
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string json_text(std::string_view text) { return harmless(text); }

std::string quoted_lines(std::string_view text, std::string_view indent) {
  std::string all(indent);
  all += "| ";
  for (const char c : harmless(text)) {
    all += c;
    if (c == '\n') (all += indent) += "| ";
  }
  return all + "\n";
}

}  // namespace stepwise::publish
