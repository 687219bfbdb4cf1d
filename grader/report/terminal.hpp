// A command's output: stdout with colours, width and checked writes, and progress on stderr.
//
// idea    Colours, line drawing and width are decided once, from the terminal and the environment,
//         so all other code only states the meaning of a text.
// Tested by tests/report_test.cpp.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace stepwise {

enum class tone { plain, strong, dim, good, bad, note, added, removed, place };

struct terminal_style {
  bool colour = false;
  bool unicode = false;  // line drawing and bars beyond ASCII
  int width = 80;        // columns to fill, between 40 and 140

  std::string paint(tone t, std::string_view text) const;
  std::string_view ellipsis() const { return unicode ? "\u2026" : "..."; }
};

// The capabilities of `descriptor`. Colours are used only on a terminal, without NO_COLOR, and if
// TERM is not dumb. The width is COLUMNS, the terminal's width, or 80. Unicode is used if the
// locale is UTF-8.
terminal_style detect_style(int descriptor, bool allow_colour);
// The number of rows of the terminal on stdout, or 24 if stdout is not a terminal.
std::size_t terminal_rows();

// Writes to stdout. Throws failure(environment) on a write error (a full disk), or ends quietly if
// the reader has gone (a closed pipe).
class output {
 public:
  explicit output(terminal_style style) : style_(style) {}
  const terminal_style& style() const { return style_; }
  std::string paint(tone t, std::string_view text) const { return style_.paint(t, text); }
  void line(std::string_view text = {});
  // Wrapped to the width, with `indent` columns of indentation. `label` is printed in the first
  // line's indentation.
  void paragraph(std::string_view text, std::size_t indent, std::string_view label = {},
                 tone t = tone::plain);
  // A line of code after `start`. If it is too long, it continues on lines that are indented by
  // four more columns than the code.
  void code(std::string_view start, std::string_view text, tone t = tone::plain);

 private:
  void write(std::string_view text);
  terminal_style style_;
  bool unread_ = false;  // `lab ... | head`: the reader has gone; keeps the exit code
};

// A line on stderr with the present activity, once it has taken two seconds. On a terminal, the
// line is redrawn in place. Otherwise, there is a new line per activity, at most one in ten
// seconds.
class progress {
 public:
  explicit progress(bool enabled);
  ~progress() { clear(); }
  void doing(std::string what);
  void tick();
  void clear();  // before other output

 private:
  bool enabled_, terminal_;
  bool drawn_ = false;
  std::string what_, said_;
  std::chrono::steady_clock::time_point started_, last_;
  int phase_ = 0;
};

}  // namespace stepwise
