// Reads headings and questions outside code, and looks for text below each question.
#include "grader/course/answers.hpp"

#include <algorithm>
#include <utility>

#include "grader/course/source.hpp"

namespace stepwise {
namespace {

constexpr const char* capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Calls body(line, is_code) for every line, because code that looks like a heading or an item is
// neither.
template <class Body>
void for_each_line(std::string_view text, Body body) {
  bool code = false;
  for (const auto& line : split_lines(text)) {
    const bool fence = trimmed(line).starts_with("```");
    body(line, code || fence);
    if (fence) code = !code;
  }
}

// An id is capital letters and a number: "R12". Empty for any other word.
std::string id_of(std::string_view word) {
  const auto letters = std::min(word.find_first_not_of(capitals), word.size());
  const std::string_view number = word.substr(letters);
  const bool is_id = letters > 0 && !number.empty() && number.size() < 4 && number[0] != '0' &&
                     number.find_first_not_of("0123456789") == std::string_view::npos;
  return is_id ? std::string(word) : "";
}

// The id and the text of "* **R12** text". The id is empty if the line has another form.
std::pair<std::string, std::string_view> identified(std::string_view line) {
  constexpr std::string_view start = "* **", end = "** ";
  if (!line.starts_with(start)) return {};
  line.remove_prefix(start.size());
  const auto at = line.find(end);
  if (at == std::string_view::npos) return {};
  return {id_of(line.substr(0, at)), line.substr(at + end.size())};
}

std::string heading(std::string_view line, std::string_view mark) {
  return line.starts_with(mark) ? std::string(trimmed(line.substr(mark.size()))) : "";
}

}  // namespace

std::vector<question> questions_of(std::string_view handout) {
  std::vector<question> all;
  std::string section;
  bool inside = false;  // in a question's lines
  for_each_line(handout, [&](const std::string& line, bool code) {
    if (inside && !code && line.starts_with("  ")) {
      all.back().lines.emplace_back(trimmed(line));
      return;
    }
    inside = false;
    if (code) return;
    if (line.starts_with("## ")) section = heading(line, "## ");
    const auto [id, rest] = identified(line);
    if (id.empty()) return;
    all.push_back({id, section, {std::string(trimmed(rest))}});
    inside = true;
  });
  return all;
}

std::string derive_answers(std::string_view handout, std::string_view lab) {
  std::string text = heading(handout.substr(0, handout.find('\n')), "# ") + ": answers\n";
  text.insert(0, "# ");
  text +=
      "\nBefore you measure, write down what you expect and why, in two or three lines below each\n"
      "question. If you were wrong, leave your guess and add what you found. The figures and "
      "tables\n"
      "that a question mentions are in [the handout](README.md) and in [deeper.md](deeper.md), "
      "whose\n"
      "questions come last and are optional. Keep the headings: `./lab grade " +
      std::string(lab) +
      "` finds your\n"
      "answers by them. They do not change the points of `./lab grade`; people read them.\n";
  std::string section;
  for (const auto& q : questions_of(handout)) {
    if (q.section != section) text += "\n## " + q.section + "\n";
    section = q.section;
    text += "\n### " + q.id + "\n\n";
    for (const auto& line : q.lines) text += "> " + line + "\n";
    text += "\n";
  }
  return text;
}

std::map<std::string, std::string> answers_by_id(std::string_view text, bool own_words) {
  std::map<std::string, std::string> all;
  std::string* current = nullptr;
  for_each_line(text, [&](const std::string& line, bool code) {
    if (!code && (line.starts_with("## ") || line.starts_with("### "))) {
      const std::string title = heading(line, "### ");
      const std::string id = id_of(std::string_view(title).substr(0, title.find(' ')));
      current = id.empty() ? nullptr : &all[id];
      return;
    }
    const std::string_view words = trimmed(line);
    if (current == nullptr || (own_words && !code && words.starts_with('>'))) return;
    if (!current->empty() || !words.empty()) *current += line + "\n";
  });
  for (auto& [id, body] : all) body.erase(body.find_last_not_of(" \t\r\n") + 1);
  return all;
}

answer_count count_answers(std::string_view handout, std::string_view answers) {
  const auto all = answers_by_id(answers, true);
  const auto is_answered = [&](const std::string& id) {
    const auto found = all.find(id);
    if (found == all.end()) return false;
    const auto lines = split_lines(found->second);
    return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      const std::string_view words = trimmed(line);
      return !words.empty() && !words.starts_with("```");
    });
  };
  answer_count count;
  for (const auto& q : questions_of(handout)) {
    ++count.questions;
    if (is_answered(q.id)) {
      ++count.answered;
    } else {
      count.open.push_back(q.id);
    }
  }
  return count;
}

}  // namespace stepwise
