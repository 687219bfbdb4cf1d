// Asks, waits for Enter, and moves to the step that the reader chooses.
#include "grader/cli/tour/tour.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "grader/course/source.hpp"
#include "grader/report/text.hpp"
#include "grader/system/signals.hpp"

namespace stepwise::cli {
namespace {

constexpr std::size_t indent = 11;

class guide_of {
 public:
  guide_of(context& c, const std::vector<tour_stop>& stops,
           const std::function<std::optional<std::string>()>& read_line)
      : c_(c), stops_(stops), read_line_(read_line) {}

  bool run() {
    c_.say(c_.out.paint(
        tone::dim,
        "a tour: Enter continues, q quits, ? lists the keys; --plain prints everything"));
    while (at_ < stops_.size()) {
      const std::size_t here = at_;
      const tour_stop& stop = stops_[here];
      stop.introduce();
      ask(stop);
      prediction_.reset();
      if (!listen(stop, "Enter: see what it does", true)) return false;
      if (at_ != here) continue;
      stop.show_change();
      compare(stop, stop.answer());
      if (!listen(stop,
                  here + 1 < stops_.size() ? "Enter: next, " + stops_[here + 1].name
                                           : "Enter: compare all steps",
                  false))
        return false;
      if (at_ == here) ++at_;
    }
    return true;
  }

 private:
  void ask(const tour_stop& stop) {
    // More than two questions would become a reading list.
    for (std::size_t i = 0; i < std::min<std::size_t>(2, stop.questions.size()); ++i)
      say("question", stop.questions[i], tone::note);
    say("predict",
        stop.over.empty() ? "What will limit it?"
                          : fmt::format("How will its speed compare with {}? Type a factor, like "
                                        "1.5, or just press Enter.",
                                        stop.over),
        tone::note);
  }

  void say(const char* label, const std::string& text, tone t) {
    c_.out.paragraph(text, indent, "  " + c_.out.paint(tone::dim, label), t);
  }

  void compare(const tour_stop& stop, double ratio) {
    if (!prediction_ || ratio <= 0) return;
    const double off = *prediction_ / ratio;
    const std::string verdict = off > 0.8 && off < 1.25 ? "a good prediction"
                                : off > 1               ? "less than you predicted. Why?"
                                                        : "more than you predicted. Why?";
    say("result",
        fmt::format("you predicted {} over {}; it is {}: {}", ratio_text(*prediction_), stop.over,
                    ratio_text(ratio), verdict),
        off > 0.8 && off < 1.25 ? tone::good : tone::note);
  }

  void help() {
    say("keys",
        "Enter continues; b goes back; d shows the changes; g 3 or g NAME jumps to a step; l lists "
        "the steps; q quits. Before a step runs, type a number to predict its speedup.",
        tone::plain);
  }

  void list() {
    for (std::size_t i = 0; i < stops_.size(); ++i)
      c_.say(fmt::format("  {} {}", i == at_ ? ">" : " ", stops_[i].name));
  }

  // Moves to the step with this name, number or beginning. Does nothing if there is no such step.
  void go_to(const std::string& where) {
    for (std::size_t i = 0; i < stops_.size(); ++i) {
      const std::string& name = stops_[i].name;
      const auto number = name.substr(0, name.find('_'));
      if (name == where || number == where || number == "0" + where ||
          (where.size() > 2 && name.find(where) != std::string::npos)) {
        at_ = i;
        return;
      }
    }
    c_.say("  there is no step " + escaped_lines(where, 1, 40)[0] + "; l lists them");
  }

  // Handles input until it is time to continue. Returns false if the reader quits.
  bool listen(const tour_stop& stop, const std::string& prompt, bool may_predict) {
    const std::size_t here = at_;
    for (;;) {
      c_.say();
      c_.say(c_.out.paint(tone::strong, "  " + prompt) +
             c_.out.paint(tone::dim, "   b back, d changes, g STEP, q quit, ? help"));
      const auto typed = read_line_();
      if (!typed) return false;
      const std::string word(trimmed(*typed));
      char* end = nullptr;
      const double number = std::strtod(word.c_str(), &end);
      if (word.empty()) return true;
      if (word == "q" || word == "quit" || word == "exit") return false;
      if (word == "b") {
        if (here > 0) at_ = here - 1;
        if (at_ != here) return true;
        c_.say("  this is the first step");
      } else if (word == "d") {
        stop.show_change();
      } else if (word == "l") {
        list();
      } else if (word.starts_with("g ")) {
        go_to(std::string(trimmed(std::string_view(word).substr(2))));
        if (at_ != here) return true;
      } else if (may_predict && end != word.c_str() && std::isfinite(number) && number > 0) {
        prediction_ = number;
        return true;
      } else {
        help();
      }
    }
  }

  context& c_;
  const std::vector<tour_stop>& stops_;
  const std::function<std::optional<std::string>()>& read_line_;
  std::size_t at_ = 0;
  std::optional<double> prediction_;
};

}  // namespace

bool guide(context& c, const std::vector<tour_stop>& stops,
           const std::function<std::optional<std::string>()>& read_line) {
  return guide_of(c, stops, read_line).run();
}

bool is_for_a_person() {
  const char* term = std::getenv("TERM");
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && term != nullptr &&
         std::strcmp(term, "dumb") != 0 && std::getenv("CI") == nullptr;
}

std::optional<std::string> read_typed_line() {
  constexpr int look_ms = 100;
  std::string line;
  for (;;) {
    throw_if_interrupted();
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, look_ms) <= 0) continue;
    char letter = 0;
    const ssize_t n = read(STDIN_FILENO, &letter, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    if (letter == '\n') return line;
    line += letter;
  }
}

std::vector<std::string> questions_about(std::string_view handout, const std::string& step_name) {
  std::vector<std::string> found;
  std::string item;
  const auto close = [&] {
    if (item.find("`" + step_name + "`") != std::string::npos) {
      std::erase(item, '*');
      std::erase(item, '`');
      found.push_back(std::move(item));
    }
    item.clear();
  };
  for (const auto& line : split_lines(handout)) {
    if (line.starts_with("* **")) {
      close();
      item = line.substr(2);
    } else if (!item.empty() && line.starts_with("  ") && !trimmed(line).empty()) {
      item += " " + std::string(trimmed(line));
    } else {
      close();
    }
  }
  close();
  return found;
}

}  // namespace stepwise::cli
