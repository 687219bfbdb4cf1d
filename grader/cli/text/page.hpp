// A text that is assembled section by section.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/report/table.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {

class page {
 public:
  explicit page(const terminal_style& style) : style_(style) {}

  void title(std::string_view text) {
    lines_.push_back(style_.paint(tone::strong, text));
    lines_.emplace_back();
  }
  void line(std::string text = {}) { lines_.push_back(std::move(text)); }
  // Wrapped and indented by two spaces. Later lines are indented by `hang` more columns.
  void paragraph(const std::string& text, tone t = tone::plain, std::size_t hang = 0) {
    const std::size_t room = static_cast<std::size_t>(style_.width) - 2 - hang;
    bool first = true;
    for (const auto& part : wrapped(text, room)) {
      lines_.push_back(std::string(first ? 2 : 2 + hang, ' ') + style_.paint(t, part));
      first = false;
    }
  }
  // Wrapped, without indentation.
  void plain_paragraph(const std::string& text, tone t = tone::plain) {
    for (const auto& part : wrapped(text, static_cast<std::size_t>(style_.width)))
      lines_.push_back(style_.paint(t, part));
  }
  // Wrapped after a label. Later lines are indented by the label's width.
  void labelled(const std::string& label, const std::string& text, tone t = tone::plain) {
    const std::size_t room = static_cast<std::size_t>(style_.width) - 2 - label.size();
    auto parts = wrapped(text, room);
    if (parts.empty()) parts.emplace_back();
    bool first = true;
    for (const auto& part : parts) {
      std::string line = "  " + (first ? label : std::string(label.size(), ' '));
      if (part.empty()) line.erase(line.find_last_not_of(' ') + 1);
      lines_.push_back(line + style_.paint(t, part));
      first = false;
    }
  }
  void table(const std::vector<column>& columns, const std::vector<std::vector<cell>>& rows) {
    indented(table_lines(columns, rows, narrower()));
  }
  void bars(const std::vector<bar>& bars) { indented(bar_lines(bars, narrower())); }

  const terminal_style& style() const { return style_; }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  terminal_style narrower() const {
    terminal_style s = style_;
    s.width -= 2;
    return s;
  }
  void indented(const std::vector<std::string>& lines) {
    for (const auto& one : lines) lines_.push_back(one.empty() ? one : "  " + one);
  }

  terminal_style style_;
  std::vector<std::string> lines_;
};

}  // namespace stepwise::cli
