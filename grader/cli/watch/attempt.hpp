// One text of a student's file: compiled, checked, counted and timed, as fast as possible. What
// `lab watch` says of each save, and `lab try` of a file that it does not know.
//
// idea    Once it is compiled, everything else is runs of one program that do not need each other:
//         they share the cores. The largest of the sizes that are checked is a run of its own,
//         since it takes as long as all others together.
// watch   Goals are judged as `lab grade --practice` does, but a speed goal by a sample of the
//         blocks, and the steps' times that are recorded: an indication.
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

// Thrown where a newer text makes an answer useless. What was started has ended by then.
struct superseded {};

struct judged_goal {
  const goal* what = nullptr;
  std::optional<bool> met;  // none: not known here
  std::string figure;       // in words; may be empty
};

struct named_figure {
  std::string name;
  double value = 0;
};

struct attempt {
  compiled made;                    // its program may be gone
  check_report report;              // of all check sizes, the small ones with all checks
  modelled_figures time;            // by the model
  std::optional<figures> measured;  // with a GPU
  std::map<lab_size, profiled_call> counted;
  std::vector<judged_goal> goals;
  std::vector<named_figure> counters;  // of the timed call
  bool is_untimed = false;             // yet: the model is at work
  // From the text to the program, and from there to the answer.
  double compile_s = 0, run_s = 0;

  bool compiles() const { return made.explanation.empty(); }
  bool right() const { return compiles() && report.correct(); }
  bool clean() const { return right() && report.findings.empty(); }
  double time_ms() const;  // 0: none
};

// What is tried, and how.
struct attempt_request {
  fs::path file;
  std::uint64_t seed = 7;
  double patience_s = 20;  // a call that takes longer has no time
  // Looked at often; true gives up.
  std::function<bool()> stops = [] { return false; };
  // Given all but the time, once, where that takes longer than the rest.
  std::function<void(attempt)> untimed = {};
  // Not null: in this sandbox, at the small sizes alone, without goals.
  const protections* guards = nullptr;
  bool passes = false;  // its program is not kept
};

class attempts {
 public:
  // All of these must outlive this; `emulated_gpu` is the GPU that is emulated.
  attempts(context& c, const lab& l, const problem& p, const gpu& emulated_gpu,
           attempt_request request);

  // Of the file as it is. Throws superseded.
  attempt make();
  // Models the steps that speed goals compare with and no record has, once; another attempt knows
  // them. True if there was one to model. Throws superseded.
  bool model_steps();
  const device_choice& emulator() const { return emulator_; }
  // The goals of an attempt, by what is known now.
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
