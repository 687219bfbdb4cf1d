// First makes text harmless, and then escapes a format's syntax.
#include "grader/publish/escape.hpp"

#include <algorithm>

#include "grader/batch/look_alike.hpp"
#include "grader/report/text.hpp"

namespace stepwise::publish {
namespace {

// GitHub's commands: the older form anywhere, the newer form after a line's white space. For
// GitHub's runner, this includes Unicode's white space, so no character beyond ASCII hides a
// command here.
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

// The signs that begin a formula in a spreadsheet, and the characters that it converts to these
// signs when it imports a text: full-width and small forms, superscripts and subscripts, heavy
// signs, the minus sign. ":" would begin a workflow command.
constexpr std::u32string_view formula_signs =
    U"=+-@:|%"
    U"\uff1d\uff0b\uff0d\uff20\uff1a\uff5c\uff05"
    U"\ufe66\ufe62\ufe63\ufe6b\ufe55\ufe6a"
    U"\u207c\u207a\u207b\u208c\u208a\u208b\u2795\u2796\u2212";

// Whether a text begins a formula, possibly after invisible characters, which a spreadsheet may
// ignore.
bool begins_formula(std::string_view text) {
  while (!text.empty()) {
    const char32_t c = batch::take_character(text);
    if (!batch::is_unseen(c)) return formula_signs.find(c) != std::u32string_view::npos;
  }
  return false;
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
  if (begins_formula(cell)) cell.insert(0, "'");
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string json_string(std::string_view text) { return harmless(text); }

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
