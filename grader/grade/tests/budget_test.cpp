// Time is charged only while a submission runs.
#include "grader/grade/budget.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "grader/judge/tests/doubling.hpp"

using namespace stepwise;

TEST_CASE("a grade's budget follows from the time limit of a call and the number of calls") {
  lab l = tests::doubling_lab();
  l.goals.clear();
  l.time_limit_s = 2;
  l.check = {{1}, {2}, {3}};
  CHECK(budget_s(l) == 6);
  l.goals.resize(3);
  l.goals[0].what = l.goals[1].what = goal::kind::counter;
  l.goals[0].size = l.goals[1].size = {4};
  l.goals[2].what = goal::kind::speedup;
  CHECK(budget_s(l) == 12);
  l.time_limit_s = 1000;
  CHECK(budget_s(l) == most_budget_s);
}

TEST_CASE("an exhausted budget ends the running program, and nothing starts after that") {
  time_budget budget(0.4);  // longer than a busy machine delays a thread
  int ticks = 0;
  activity now;
  now.tick = [&] { ++ticks; };
  {
    charged_time charged(budget, now);
    charged.now().tick();
    CHECK(ticks == 1);
    charged.pause();
    usleep(450'000);
    charged.now().tick();  // time during the pause is not charged
    charged.resume();
    usleep(450'000);
    CHECK_THROWS_AS(charged.now().tick(), out_of_time);
  }
  CHECK(budget.exceeded());
  CHECK(budget.used_s() >= 0.45);
  CHECK_THROWS_AS(charged_time(budget, now), out_of_time);
}
