// Queries the terminal and the locale, paints and wraps text, and draws the progress line.
#include "grader/report/terminal.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/stopwatch.hpp"

namespace stepwise {
namespace {

using clock = std::chrono::steady_clock;

const char* escape_of(tone t) {
  switch (t) {
    case tone::plain:
      return "";
    case tone::strong:
      return "\x1b[1m";
    case tone::dim:
      return "\x1b[2m";
    case tone::good:
      return "\x1b[32m";
    case tone::bad:
      return "\x1b[1;31m";
    case tone::note:
      return "\x1b[33m";
    case tone::added:
      return "\x1b[32m";
    case tone::removed:
      return "\x1b[31m";
    case tone::place:
      return "\x1b[36m";
  }
  return "";
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!is_set(name)) continue;
    const char* value = std::getenv(name);
    return strcasestr(value, "utf-8") != nullptr || strcasestr(value, "utf8") != nullptr;
  }
  return false;
}

int width_of(int descriptor) {
  if (const char* columns = std::getenv("COLUMNS")) {
    if (const int n = std::atoi(columns); n > 0) return n;
  }
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

std::string terminal_style::paint(tone t, std::string_view text) const {
  if (!colour || t == tone::plain || text.empty()) return std::string(text);
  return std::string(escape_of(t)) + std::string(text) + "\x1b[0m";
}

terminal_style detect_style(int descriptor, bool allow_colour) {
  terminal_style style;
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && strcmp(term, "dumb") == 0;
  style.colour = allow_colour && isatty(descriptor) == 1 && !is_set("NO_COLOR") && !dumb;
  style.unicode = utf8_locale();
  style.width = std::clamp(width_of(descriptor), 40, 140);
  return style;
}

std::size_t terminal_rows() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

void output::write(std::string_view text) {
  while (!text.empty() && !unread_) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EPIPE) {
      unread_ = true;
    } else if (errno != EINTR) {
      throw failure(exit_code::environment,
                    fmt::format("cannot write to standard output: {}", strerror(errno)));
    }
  }
}

void output::line(std::string_view text) { write(std::string(text) + "\n"); }

void output::paragraph(std::string_view text, std::size_t indent, std::string_view label, tone t) {
  const std::size_t width = static_cast<std::size_t>(style_.width);
  const std::size_t room = width > indent + 20 ? width - indent : 20;
  bool first = true;
  for (const auto& piece : wrapped(text, room)) {
    std::string start(indent, ' ');
    if (first && !label.empty()) {
      start = std::string(label);
      const std::size_t used = display_width(label);
      start.append(used < indent ? indent - used : label.ends_with(' ') ? 0 : 1, ' ');
    }
    line(start + paint(t, piece));
    first = false;
  }
}

void output::code(std::string_view start, std::string_view text, tone t) {
  const std::size_t before = display_width(start);
  const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
  const auto width = static_cast<std::size_t>(style_.width);
  if (before + display_width(text) <= width) return line(std::string(start) + paint(t, text));
  const std::string blank(indent, ' '), further(before + indent + 4, ' ');
  const std::size_t room = width > further.size() + 20 ? width - further.size() : 20;
  bool first = true;
  for (const auto& piece : wrapped(text.substr(indent), room)) {
    line((first ? std::string(start) + blank : further) + paint(t, piece));
    first = false;
  }
}

progress::progress(bool enabled)
    : enabled_(enabled), terminal_(isatty(STDERR_FILENO) == 1), started_(clock::now()) {}

void progress::doing(std::string what) {
  // This does not restart the clock. Otherwise, many short activities in a row would never be
  // shown.
  what_ = std::move(what);
  tick();
}

void progress::tick() {
  if (!enabled_ || what_.empty() || seconds_since(started_) < 2) return;
  if (!terminal_) {
    if (what_ == said_ || (!said_.empty() && seconds_since(last_) < 10)) return;
    said_ = what_;
    last_ = clock::now();
    fmt::print(stderr, "lab: {} ...\n", what_);
    return;
  }
  if (drawn_ && seconds_since(last_) < 0.1) return;
  last_ = clock::now();
  drawn_ = true;
  const auto style = detect_style(STDERR_FILENO, true);
  static constexpr const char* frames = "-\\|/";
  const std::string text = shortened(
      fmt::format("{} {}  {:.0f} s", frames[phase_++ % 4], what_, seconds_since(started_)),
      static_cast<std::size_t>(style.width) - 1);
  fmt::print(stderr, "\r\x1b[K{}", style.paint(tone::dim, text));
  std::fflush(stderr);
}

void progress::clear() {
  if (drawn_) {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }
  drawn_ = false;
}

}  // namespace stepwise
