// Points for one file: correctness and checks first, then its cost, counted on the emulator and
// measured against solution steps in the same run. GOALS.md explains how each kind of goal is
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

// The seed of the calls whose modelled times speed goals compare. It is the same in every grade.
inline constexpr std::uint64_t seed_of_modelled_calls = 7;

// A speed goal judged by the time model, without a GPU.
struct modelled_comparison {
  double ratio = 0;  // speedup over the goal's step
  double mine_ms = 0, other_ms = 0;
  lab_size size;
  std::string gpu;  // "NVIDIA H200"
};

struct goal_result {
  const goal* what = nullptr;
  double points = 0;
  std::optional<bool> passed;  // empty: not graded here, counts neither way
  std::string message;
  std::optional<comparison> speed;
  std::optional<goal_figure> counted;
  std::optional<modelled_comparison> modelled;
};

struct grade_report {
  verdict what = verdict::pass;
  double points = 0, max_points = 0;
  std::vector<goal_result> goals;
  std::optional<check_report> correctness;  // with findings; empty if it did not compile
  bool checked = false;                     // the emulator's checks were on
  std::string message;                      // the reason that the class is not PASS
};

// If `compile_errors` is not empty, the file does not compile, and nothing runs. `before_gpu` is
// called before a GPU's first use, so that a program that the emulator finds wrong does not hold a
// GPU. `before_gpu` may change `device`'s walls. `budget` is the submission's budget, which several
// calls can share. If it is null, the lab's whole budget applies.
grade_report grade_program(
    const lab& l, const problem& p, const std::string& name, const std::filesystem::path& program,
    const std::vector<std::string>& compile_errors, const installation& where,
    const device_choice& device, std::uint64_t seed, const activity& now,
    const std::function<void()>& before_gpu = [] {}, time_budget* budget = nullptr);

// The lower bound for an honest call, which must read its inputs from memory once. 0 if the
// memory's speed is unknown.
double floor_ms(const problem_call& call, double peak_gb_per_s);

}  // namespace stepwise
