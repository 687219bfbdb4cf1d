// The time that one submission may take in total. Each call has its own limit, but a program that
// stays just below all limits would take twenty minutes.
//
// idea    Only the time while the submission's own program runs is charged. The time of the
//         course's programs and the wait for a GPU's lock or for memory are not charged. Code that
//         waits for a child calls `tick` about ten times a second, which ends the grade when the
//         budget is used up.
// Tested by tests/budget_test.cpp.
#pragma once

#include <chrono>
#include <stdexcept>

#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"

namespace stepwise {

inline constexpr double most_budget_s = 300;

// The budget for a grade of this lab: the time limit of one call times the number of calls, but at
// most most_budget_s. Honest grades take a tenth of that budget, even on a machine with seven times
// more work than cores.
double budget_s(const lab& l);

struct out_of_time : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class time_budget {
 public:
  explicit time_budget(double seconds) : seconds_(seconds) {}

  double seconds() const { return seconds_; }
  double used_s() const { return used_s_; }
  bool exceeded() const { return exceeded_; }

 private:
  friend class charged_time;
  double seconds_;
  double used_s_ = 0;
  bool exceeded_ = false;
};

// Charges a budget for its lifetime.
class charged_time {
 public:
  // Throws out_of_time if the budget is used up.
  charged_time(time_budget& budget, const activity& now);
  ~charged_time() { pause(); }
  charged_time(const charged_time&) = delete;
  charged_time& operator=(const charged_time&) = delete;

  // Its `tick` throws out_of_time once the budget is used up.
  const activity& now() const { return now_; }
  // Time before `resume` is not charged.
  void pause();
  void resume();

 private:
  void require_time();

  time_budget& budget_;
  activity now_;
  bool is_paused_ = false;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace stepwise
