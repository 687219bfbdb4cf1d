// Counts the calls of a grade and the time that they take.
#include "grader/grade/budget.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "grader/system/stopwatch.hpp"

namespace stepwise {

double budget_s(const lab& l) {
  std::set<lab_size> counted;
  bool is_timed = false;
  for (const goal& g : l.goals) {
    if (g.what == goal::kind::counter) counted.insert(g.size);
    is_timed = is_timed || g.is_speed();
  }
  // A time is modelled twice: from a sample of the blocks, and from all blocks.
  const std::size_t calls = l.check.size() + counted.size() + (is_timed ? 2 : 0);
  return std::min(most_budget_s, l.time_limit_s * static_cast<double>(calls));
}

charged_time::charged_time(time_budget& budget, const activity& now) : budget_(budget), now_(now) {
  require_time();
  now_.tick = [this, tick = now.tick] {
    tick();
    require_time();
  };
}

void charged_time::pause() {
  if (!is_paused_) budget_.used_s_ += seconds_since(since_);
  is_paused_ = true;
}

void charged_time::resume() {
  is_paused_ = false;
  since_ = std::chrono::steady_clock::now();
}

void charged_time::require_time() {
  const double used_s = budget_.used_s_ + (is_paused_ ? 0 : seconds_since(since_));
  if (used_s < budget_.seconds_) return;
  budget_.exceeded_ = true;
  throw out_of_time(
      fmt::format("its calls took more than {:g} s in total, the limit for one grade of this lab",
                  budget_.seconds_));
}

}  // namespace stepwise
