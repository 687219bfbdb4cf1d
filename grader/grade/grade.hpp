// Points for one file: correctness and checks first, then what it costs, counted on the emulator
// and measured against solution steps in the same run. GOALS.md says how each kind of goal is
// judged.
//
// Tested by tests/goal_test.cpp, tests/grade_test.cpp and cli/tests/goals_cli_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/grade/budget.hpp"
#include "grader/grade/speed.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/installation.hpp"

namespace stepwise {

// Of the calls whose times speed goals compare without a GPU: the same in every grade.
inline constexpr std::uint64_t seed_of_modelled_calls = 7;

// A speed goal by the time model, where there is no GPU.
struct modelled_comparison {
  double ratio = 0;  // times as fast as the goal's step
  double mine_ms = 0, other_ms = 0;
  lab_size size;
  std::string gpu;  // "NVIDIA H200"
};

struct goal_result {
  const goal* what = nullptr;
  double points = 0;
  std::optional<bool> passed;  // none: not graded here, counts neither way
  std::string message;
  std::optional<comparison> speed;
  std::optional<goal_figure> counted;
  std::optional<modelled_comparison> modelled;
};

struct grade_report {
  verdict what = verdict::pass;
  double points = 0, max_points = 0;
  std::vector<goal_result> goals;
  std::optional<check_report> correctness;  // none if it did not compile; with what checks found
  bool checked = false;                     // the emulator's checks were on
  std::string message;                      // why the class is not PASS
};

// `compile_errors` not empty: the file does not compile, and nothing is run. `before_gpu` is called
// before a GPU's first use: a program that the emulator finds wrong needs none, and none is held
// for it. It may change `device`'s walls. `budget`: of the submission,
// which several calls of this can share; null: a lab's whole one.
grade_report grade_program(
    const lab& l, const problem& p, const std::string& name, const std::filesystem::path& program,
    const std::vector<std::string>& compile_errors, const installation& where,
    const device_choice& device, std::uint64_t seed, const activity& now,
    const std::function<void()>& before_gpu = [] {}, time_budget* budget = nullptr);

// The time below which a call cannot be honest: its inputs must come from memory once. 0 if the
// memory's speed is unknown.
double floor_ms(const problem_call& call, double peak_gb_per_s);

}  // namespace stepwise
