// lab watch: checks a student's file at each save, and reports what changed.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "grader/cli/context.hpp"
#include "grader/cli/own_progress.hpp"
#include "grader/cli/verb.hpp"
#include "grader/cli/watch/attempt.hpp"
#include "grader/cli/watch/attempt_text.hpp"
#include "grader/cli/watch/saved_file.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/signals.hpp"

namespace stepwise::cli {
namespace {

struct watch_options {
  std::string lab, file, gpu;
  std::uint64_t seed = 7;
  bool once = false;
};

constexpr auto between_looks = std::chrono::milliseconds(20);

std::string clock_time() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", std::localtime(&now));
  return text;
}

class watcher {
 public:
  watcher(context& c, const lab& l, const problem& p, const gpu& emulated_gpu,
          const watch_options& o)
      : c_(c),
        l_(l),
        o_(o),
        path_(o.file.empty() ? c.where.root / l.file : fs::absolute(o.file)),
        file_(path_),
        attempts_(c, l, p, emulated_gpu,
                  {path_, o.seed, 20, [this] { return is_newer(); },
                   [this](const attempt& a) { show_untimed(a); }}),
        is_screen_(isatty(STDOUT_FILENO) == 1 && !c.as_json && !o.once) {}

  int run() {
    if (!fs::exists(path_))
      refuse(c_.where.shown(path_) + " does not exist" +
             (o_.file.empty() ? "\n`./lab start " + l_.name + "` creates a new skeleton" : ""));
    try {
      for (;;) {
        const bool answered = wait_for_news() && answer();
        if (o_.once && answered) return code_;
      }
    } catch (const interrupted&) {
      c_.busy.clear();
      throw failure(exit_code::interrupted, "");  // the usual end of this command
    }
  }

 private:
  // Also called while an answer is being made. A newer text ends that answer.
  bool is_newer() { return !o_.once && file_.has_news(); }

  bool wait_for_news() {
    bool was_there = true;
    while (!file_.has_news()) {
      throw_if_interrupted();
      if (!file_.is_there() && was_there) missing_since_ = std::chrono::steady_clock::now();
      was_there = file_.is_there();
      if (!was_there && !said_missing_ && missing_since_ &&
          std::chrono::steady_clock::now() - *missing_since_ > std::chrono::seconds(1)) {
        c_.say("  " + c_.where.shown(path_) + " is gone; waiting for it to come back");
        said_missing_ = true;
      }
      std::this_thread::sleep_for(between_looks);
    }
    said_missing_ = false;
    return true;
  }

  // Returns false if a newer text came before the answer.
  bool answer() {
    file_.take();
    ++saves_;
    try {
      const earlier_attempts before = before_;
      before_.last = attempts_.make();
      attempt& a = *before_.last;
      if (a.time_ms() > 0) before_.last_timed = a;
      code_ = a.clean() ? 0 : exit_code_of(verdict::wrong);
      if (!o_.once) show(a, before);
      // The times that goals compare with are modelled once, after the first answer.
      if (a.right() && attempts_.model_steps()) {
        attempts_.judge(a);
        if (is_screen_) show(a, before);
      }
      if (o_.once) show(a, before);
      remember(a);
    } catch (const superseded&) {
      c_.busy.clear();
      return false;
    } catch (const failure& error) {
      // The next save may fix a usage error. Any other failure ends the command.
      if (error.code() != exit_code::usage || o_.once) throw;
      c_.say(error.what());
    }
    return true;
  }

  // Records the result for `lab list`. Goals count once all of them are judged.
  void remember(const attempt& a) {
    goals_met met;
    bool all = a.right();
    for (const judged_goal& g : a.goals) {
      all = all && g.met;
      if (!g.met.value_or(false)) continue;
      met.names.push_back(g.what->name);
      met.points += g.what->points;
    }
    verdict found = class_of(a);
    if (found == verdict::pass && all && met.names.size() < a.goals.size()) found = verdict::slow;
    remember_own(c_, l_, {c_.where.shown(path_), {}, {}}, "watch", found,
                 all ? std::optional(met) : std::nullopt);
  }

  void show(const attempt& a, const earlier_attempts& before) {
    c_.busy.clear();
    // The window's size may have changed.
    const terminal_style style = detect_style(STDOUT_FILENO, !c_.plain);
    const answer_place at{l_,
                          style,
                          c_.where.root,
                          c_.where.shown(path_),
                          fmt::format("{}, save {}", clock_time(), saves_),
                          is_screen_ ? terminal_rows() - 1 : 1000};
    if (c_.as_json) return c_.print(answer_json(a, before, at));
    if (is_screen_) std::fputs("\x1b[H\x1b[2J", stdout), std::fflush(stdout);
    for (const auto& line : answer_lines(a, before, at)) c_.say(line);
    if (is_screen_) {
      say_ready();
    } else if (!o_.once) {
      c_.say();
    }
  }

  // Shows an answer without its time. This is only for a screen, which is drawn again with the
  // time.
  void show_untimed(const attempt& a) {
    if (is_screen_) show(a, before_);
  }

  void say_ready() {
    if (is_screen_) c_.say(c_.out.paint(tone::dim, "  waiting for the next save; Ctrl-C quits"));
  }

  context& c_;
  const lab& l_;
  const watch_options& o_;
  const fs::path path_;
  saved_file file_;
  attempts attempts_;
  const bool is_screen_;
  earlier_attempts before_;
  std::optional<std::chrono::steady_clock::time_point> missing_since_;
  bool said_missing_ = false;
  int saves_ = 0, code_ = 0;
};

int watch(context& c, const watch_options& o) {
  if (c.as_json && !o.once) refuse("--json prints a single document: add --once");
  const lab l = load_lab(c.where.build, o.lab);
  const problem& p = problem_of(l, c.where);
  const auto wanted = wanted_gpu(c, o.gpu);
  return watcher(c, l, p, wanted ? *wanted : stand_for(c, ""), o).run();
}

const verb watch_verb(
    {verb_place::group::write, 30}, "watch", "test again whenever you save",
    "  ./lab watch reduction                your file, until Ctrl-C\n"
    "  ./lab watch reduction --file try.cu  another file\n"
    "  ./lab watch reduction --once         your file, only once",
    [](arguments& takes, watch_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add("--gpu", o.gpu, gpu_option_text);
      takes.add("--seed", o.seed, "seed of the random inputs (7)");
      takes.flag("--once", o.once, "test the file once, and exit");
    },
    watch);

}  // namespace
}  // namespace stepwise::cli
