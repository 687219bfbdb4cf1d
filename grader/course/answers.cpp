// Reads headings and numbered items outside of code, and looks for text below each question.
#include "grader/course/answers.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "grader/course/source.hpp"

namespace stepwise {
namespace {

// Calls body(line) for every line, and tells code lines apart: what looks like a heading or an item
// in there is none.
template <class Body>
void for_each_line(std::string_view text, Body body) {
  bool code = false;
  for (const auto& line : split_lines(text)) {
    const bool fence = trimmed(line).starts_with("```");
    body(line, code || fence);
    if (fence) code = !code;
  }
}

// The number of "12. text" or "12", and what follows; 0 if the line does not begin like that.
std::pair<int, std::string_view> numbered(std::string_view line) {
  int number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc{} || number <= 0) return {};
  return {number, line.substr(static_cast<std::size_t>(end - line.data()))};
}

std::string heading(std::string_view line, std::string_view mark) {
  return line.starts_with(mark) ? std::string(trimmed(line.substr(mark.size()))) : "";
}

}  // namespace

std::string question::name() const { return section + ", " + std::to_string(number); }

std::vector<question> questions_of(std::string_view handout) {
  std::vector<question> all;
  std::string section;
  bool inside = false;  // of a question's lines
  for_each_line(handout, [&](const std::string& line, bool code) {
    if (inside && !code && line.starts_with("  ")) {
      all.back().lines.emplace_back(trimmed(line));
      return;
    }
    inside = false;
    if (code) return;
    if (line.starts_with("## ")) section = heading(line, "## ");
    const auto [number, rest] = numbered(line);
    if (number == 0 || !rest.starts_with(". ")) return;
    all.push_back({section, number, {std::string(trimmed(rest.substr(2)))}});
    inside = true;
  });
  return all;
}

std::string derive_answers(std::string_view handout, std::string_view lab) {
  std::string text = heading(handout.substr(0, handout.find('\n')), "# ") + ": answers\n";
  text.insert(0, "# ");
  text +=
      "\nWrite down what you expect before you measure, and why: two or three lines below each "
      "question.\nWhere you were wrong, leave it, and add what you found. Figures and tables that "
      "a "
      "question speaks\nof stand in [the handout](README.md). Keep the headings: `./lab grade " +
      std::string(lab) +
      "` tells by them\nwhat is answered. No points of `./lab grade` depend on it; people read "
      "it.\n";
  std::string section;
  for (const auto& q : questions_of(handout)) {
    if (q.section != section) text += "\n## " + q.section + "\n";
    section = q.section;
    text += "\n### " + std::to_string(q.number) + "\n\n";
    for (const auto& line : q.lines) text += "> " + line + "\n";
    text += "\n";
  }
  return text;
}

answer_count count_answers(std::string_view handout, std::string_view answers) {
  std::set<std::pair<std::string, int>> answered;
  std::string section;
  int number = 0;
  for_each_line(answers, [&](const std::string& line, bool code) {
    const std::string words(trimmed(line));
    if (!code && line.starts_with("## ")) {
      section = heading(line, "## ");
      number = 0;
    } else if (!code && line.starts_with("### ")) {
      number = numbered(heading(line, "### ")).first;
    } else if (!words.empty() && !words.starts_with('>') && !words.starts_with("```")) {
      answered.insert({section, number});
    }
  });
  answer_count count;
  for (const auto& q : questions_of(handout)) {
    ++count.questions;
    if (answered.contains({q.section, q.number})) {
      ++count.answered;
    } else {
      count.open.push_back(q.name());
    }
  }
  return count;
}

}  // namespace stepwise
