// Tests that steps have the speedups that steps.txt promises, according to the recorded
// measurements. Reports steps without a record.
#include "grader/measure/promises.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/model/recorded_times.hpp"

namespace {

using namespace stepwise;

// The GPUs whose records are used, in this order. The first record that has both steps of a promise
// at its size judges the promise.
const std::vector<std::string> gpus = {"NVIDIA H200", "NVIDIA H100 80GB HBM3"};

step_times times_of(const lab& l, const std::string& gpu) {
  return [all = load_recorded_times(std::getenv("STEPWISE_SOURCE"), l, gpu)](
             const std::string& name, const lab_size& size) { return all.find(name, size); };
}

std::vector<promise> by_records(const lab& l) {
  std::vector<promise> promises = judge_promises(l, times_of(l, gpus.front()));
  for (auto gpu = gpus.begin() + 1; gpu != gpus.end(); ++gpu) {
    const std::vector<promise> by_other = judge_promises(l, times_of(l, *gpu));
    for (std::size_t i = 0; i < promises.size(); ++i)
      if (!promises[i].ratio) promises[i].ratio = by_other[i].ratio;
  }
  return promises;
}

bool is_measured(const lab& l, const step& s) {
  return std::any_of(gpus.begin(), gpus.end(), [&](const std::string& gpu) {
    const step_times times = times_of(l, gpu);
    return std::any_of(l.promised.begin(), l.promised.end(), [&](const lab_size& size) {
      return times(s.name, size) && times(s.over, size);
    });
  });
}

TEST_CASE("every step has the speedup that steps.txt promises, in the recorded measurements") {
  std::size_t judged = 0;
  for (const lab& l : load_labs(std::getenv("STEPWISE_BUILD"))) {
    const auto promises = by_records(l);
    for (const promise& p : promises) {
      CHECK_MESSAGE(!p.is_broken(), l.name, ": ", promise_text(p));
      if (p.ratio) ++judged;
    }
    for (const step& s : l.steps) {
      if (!s.at_least) continue;
      const bool has_records = std::any_of(promises.begin(), promises.end(), [&](const promise& p) {
        return p.step == s.name && p.ratio.has_value();
      });
      CHECK_MESSAGE(
          has_records, l.name, " ", s.name,
          ": has a promise that no record can show; write `?` for a step that was not measured");
    }
  }
  CHECK(judged > 50);
}

TEST_CASE("a step without a promise has not been measured next to the previous step") {
  for (const lab& l : load_labs(std::getenv("STEPWISE_BUILD"))) {
    for (const step& s : l.steps) {
      if (!s.unmeasured) continue;
      const bool measured = is_measured(l, s);
      CHECK_MESSAGE(!measured, l.name, " ", s.name, ": was measured, so replace `?` by a promise");
      if (!measured)
        MESSAGE("not judged: ", l.name, " ", s.name, " over ", s.over,
                " has no record; `./lab dev bench ", l.name, " --baselines --record` makes one");
    }
  }
}

}  // namespace
