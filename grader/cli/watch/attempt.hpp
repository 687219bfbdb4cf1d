// One saved text of a student's file: compiled, checked, counted and timed, as fast as possible.
//
// idea    Once it is compiled, everything else is runs of one program that do not need each other:
//         they share the cores, the longest first. The largest of the sizes that are checked is a
//         run of its own, since it takes as long as all others together.
// watch   Goals are judged as `lab grade --practice` does, but a speed goal by a sample of the
//         blocks: an indication.
// Tested by tests/watch_cli_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

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
  std::vector<std::string> compile_errors;
  check_report report;              // of all check sizes, the small ones with all checks
  modelled_figures time;            // by the model
  std::optional<figures> measured;  // with a GPU
  std::map<lab_size, profiled_call> counted;
  std::vector<judged_goal> goals;
  std::vector<named_figure> counters;  // of the timed call
  double seconds = 0;                  // from the text to the answer

  bool compiles() const { return compile_errors.empty(); }
  bool right() const { return compiles() && report.correct(); }
  bool clean() const { return right() && report.findings.empty(); }
  double time_ms() const;  // 0: none
};

class attempts {
 public:
  // All of these must outlive this. `stops`: looked at often; true gives up.
  attempts(context& c, const lab& l, const problem& p, fs::path file, std::uint64_t seed,
           std::function<bool()> stops);

  // Of the file as it is. Throws superseded.
  attempt make();
  // Models the steps that speed goals compare with, once; another attempt knows them. True if there
  // was one to model. Throws superseded.
  bool model_steps();
  // The goals of an attempt, by what is known now.
  void judge(attempt& a);

 private:
  compiled compile();
  void run_all(attempt& a, const fs::path& program);
  judged_goal judge_goal(const attempt& a, const goal& g);
  std::optional<double> step_ms(const std::string& name);
  activity while_current();

  context& c_;
  const lab& l_;
  const problem& p_;
  const fs::path file_;
  const std::uint64_t seed_;
  const std::function<bool()> stops_;
  const device_choice device_, emulator_;
  kept_times kept_{c_.where, emulator_};
  std::map<std::string, std::optional<double>> steps_;
};

}  // namespace stepwise::cli
