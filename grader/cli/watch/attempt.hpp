// Compiles, checks, counts and times one text of a student's file as fast as possible. `lab watch`
// does this for each save, `lab try` for an unknown file.
//
// idea    After compiling, all work consists of independent runs of one program, which share the
//         cores. The largest check size is a run of its own, because it takes as long as all other
//         sizes together.
// watch   Goals are judged as in `lab grade --practice`, but speed goals only approximately, from a
//         sample of the blocks and the steps' recorded times.
// Tested by tests/watch_cli_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/device/gpu.hpp"
#include "grader/cli/context.hpp"
#include "grader/judge/compile.hpp"
#include "grader/measure/profiled.hpp"
#include "grader/model/kept_times.hpp"
#include "grader/model/modelled.hpp"

namespace stepwise::cli {

// Thrown if a newer text makes an answer useless. All work that was started has ended by then.
struct superseded {};

struct judged_goal {
  const goal* what = nullptr;
  std::optional<bool> met;  // empty: not known here
  std::string figure;       // in words; may be empty
};

struct named_figure {
  std::string name;
  double value = 0;
};

struct attempt {
  compiled made;                    // its program may be gone
  check_report report;              // all check sizes; the small ones with all checks
  modelled_figures time;            // modelled
  std::optional<figures> measured;  // with a GPU
  std::map<lab_size, profiled_call> counted;
  std::vector<judged_goal> goals;
  std::vector<named_figure> counters;  // for the timed call
  bool is_untimed = false;             // the model is still at work
  // The seconds to compile the text, and then to get from the program to the answer.
  double compile_s = 0, run_s = 0;

  bool compiles() const { return made.explanation.empty(); }
  bool right() const { return compiles() && report.correct(); }
  bool clean() const { return right() && report.findings.empty(); }
  double time_ms() const;  // 0: no time
};

// The file to try, and how.
struct attempt_request {
  fs::path file;
  std::uint64_t seed = 7;
  double patience_s = 20;  // a call that takes longer has no time
  // Polled often; true stops the attempt.
  std::function<bool()> stops = [] { return false; };
  // Called once, with everything but the time, if the time takes longer than the rest.
  std::function<void(attempt)> untimed = {};
  // If not null, runs in this sandbox, at the small sizes only and without goals.
  const protections* guards = nullptr;
  bool passes = false;  // its program is not kept
};

class attempts {
 public:
  // All arguments must outlive this object.
  attempts(context& c, const lab& l, const problem& p, const gpu& emulated_gpu,
           attempt_request request);

  // Makes an attempt with the current file. Throws superseded.
  attempt make();
  // Models the steps that speed goals compare with, unless a record has their times. This happens
  // only once; later attempts use the same times. Returns true if there was such a step. Throws
  // superseded.
  bool model_steps();
  const device_choice& emulator() const { return emulator_; }
  // Judges the goals of an attempt by the data so far.
  void judge(attempt& a);

 private:
  bool is_trusted() const { return request_.guards == nullptr; }
  compiled compile();
  void run_all(attempt& a);
  judged_goal judge_goal(const attempt& a, const goal& g);
  std::optional<double> step_ms(const std::string& name);
  activity while_current();

  context& c_;
  const lab& l_;
  const problem& p_;
  const attempt_request request_;
  const fs::path parts_;  // of the lab's solutions
  const lab_size timed_size_;
  device_choice device_, emulator_;
  kept_times kept_{c_.where, emulator_};
  std::map<std::string, std::optional<double>> steps_;
};

}  // namespace stepwise::cli
