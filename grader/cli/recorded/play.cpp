// lab play: a recorded warp in the terminal, an instruction at a time.
//
// idea    A frame is a pure function of the recording and a position in it. On a terminal, keys
//         change the position; elsewhere, the whole list is printed.
#include <fmt/core.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>

#include "grader/cli/context.hpp"
#include "grader/cli/recorded/choice.hpp"
#include "grader/cli/recorded/frame.hpp"
#include "grader/cli/recorded/make.hpp"
#include "grader/cli/verb.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

struct play_options {
  std::string what, step;
  bool list = false;
};

// Reads keys without Enter and without echo during its lifetime.
class key_input {
 public:
  key_input() {
    tcgetattr(STDIN_FILENO, &before_);
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  ~key_input() { tcsetattr(STDIN_FILENO, TCSANOW, &before_); }
  key_input(const key_input&) = delete;
  key_input& operator=(const key_input&) = delete;

  // Returns the next key, an arrow as 'h' or 'l', 0 after `wait_ms`, 'q' at the end of the input.
  char next(int wait_ms) {
    if (typed_.empty()) {
      pollfd in{STDIN_FILENO, POLLIN, 0};
      if (poll(&in, 1, wait_ms) <= 0) return 0;
      char bytes[64];
      const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
      if (n <= 0) return 'q';
      typed_.assign(bytes, static_cast<std::size_t>(n));
    }
    const bool is_sequence =
        typed_.size() > 2 && typed_[0] == 27 && (typed_[1] == '[' || typed_[1] == 'O');
    if (!is_sequence) {
      const char key = typed_[0];
      typed_.erase(0, 1);
      return key;
    }
    const auto end = typed_.find_first_not_of("0123456789;", 2);
    const std::string name = typed_.substr(2, end == std::string::npos ? end : end - 1);
    typed_.erase(0, end == std::string::npos ? end : end + 1);
    if (name == "C") return 'l';
    if (name == "D") return 'h';
    if (name == "H" || name == "1~" || name == "7~") return 'g';
    return name == "F" || name == "4~" || name == "8~" ? 'G' : '\1';
  }

 private:
  termios before_{};
  std::string typed_;  // bytes that next() has not used yet: a held key sends many at once
};

void play_on_terminal(context& c, const warp_recording& r) {
  key_input keys;
  const std::size_t first = r.steps[0].accesses.empty() ? next_access(r, 0, false) : 0;
  std::size_t at = first < r.steps.size() ? first : 0;
  bool playing = false, values = false;
  for (std::string note;;) {
    std::string frame = "\033[H\033[2J";
    const screen on = {static_cast<std::size_t>(detect_style(STDOUT_FILENO, true).width),
                       terminal_rows()};
    for (const cell& line : frame_lines(r, at, values, on))
      frame += c.out.paint(line.t, line.text) + "\n";
    const std::string keys_now =
        playing ? "space: stop  q: quit"
                : "arrows: step  space: play  w: next costly access  v: values  g G: ends  q: quit";
    frame +=
        "\n" + (note.empty() ? c.out.paint(tone::dim, keys_now) : c.out.paint(tone::note, note));
    c.say(frame);
    note.clear();
    const char key = keys.next(playing ? 250 : -1);
    if (key == 'q' || key == 3) return;
    if (key == ' ') playing = !playing;
    if (key == 'v') values = !values;
    if (key == 'g') at = 0;
    if (key == 'G') at = r.steps.size() - 1;
    if (key == 'h' && at > 0) --at;
    if ((key == 'l' || (key == 0 && playing)) && at + 1 < r.steps.size()) ++at;
    if (key == 'w') {
      const std::size_t costly = next_access(r, at, true);
      if (costly < r.steps.size())
        at = costly;
      else
        note = "no later access takes more sectors or wavefronts than it must";
    }
    if (at + 1 == r.steps.size()) playing = false;
  }
}

int show(context& c, const warp_recording& r, const std::string& origin, const play_options& o) {
  if (r.steps.empty()) refuse(origin + " has no steps");
  if (c.as_json) {
    json steps = json::array();
    for (const auto& s : r.steps) steps.push_back(step_text(r, s));
    c.print({{"file", origin}, {"recorded", kept_text(r)}, {"steps", steps}});
    return 0;
  }
  if (!o.list && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
    play_on_terminal(c, r);
    return 0;
  }
  c.say(kept_text(r));
  for (std::size_t n = 0; n < r.steps.size(); ++n) c.say(list_line(r, n));
  return 0;
}

// Records the first warp of the student's file.
int play_own(context& c, const lab& l, const play_options& o) {
  const subject s = prepare(c, l, "", "");
  if (s.program.empty())
    return report_compile_errors(c, s, {{"lab", l.name}, {"subject", s.shown}});
  const auto made = record_call(c, l, s, {"", 7, words_of(recorded_choice{})}, "");
  if (!made) refuse(s.shown + " launches no kernel, so there is no warp to show");
  return show(c, *made, s.shown, o);
}

int play(context& c, const play_options& o) {
  const bool is_lab = std::ranges::count(lab_names(c.where.build), o.what) > 0;
  if (is_lab && o.step.empty() && !fs::is_regular_file(o.what))
    return play_own(c, load_lab(c.where.build, o.what), o);
  fs::path file = o.what;
  if (!o.step.empty()) {
    const lab l = load_lab(c.where.build, o.what);
    file = course_recording(c, l, find_step(l, o.step));
  }
  return show(c, read_recording(file), file, o);
}

const verb play_verb(
    {verb_place::group::examine, 20}, "play", "step through the instructions of a warp",
    "  ./lab play reduction            the first warp of your file\n"
    "  ./lab play reduction 02         a warp recorded by the course\n"
    "  ./lab play a.json               a recording made by `./lab dev record`\n"
    "  ./lab play a.json --list        as a list, one line per instruction",
    [](arguments& takes, play_options& o) {
      takes.add("WHAT", o.what, "a recording, or a lab").required();
      takes.add_step("STEP", o.step, "a recorded step of that lab (your file)");
      takes.flag("--list", o.list, "print all instructions, even on a terminal");
    },
    play);

}  // namespace
}  // namespace stepwise::cli
