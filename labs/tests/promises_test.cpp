// Tests that steps are as much faster as steps.txt promises, by the recorded measurements; what was
// not recorded yet is reported.
#include "grader/measure/promises.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "grader/course/lab.hpp"
#include "grader/model/recorded_times.hpp"

namespace {

using namespace stepwise;

fs::path solutions_of(const lab& l) {
  return fs::path(std::getenv("STEPWISE_SOURCE")) / "solutions" / l.name;
}

// By the record of the GPU that the promises were made for; a lab may have none yet.
step_times times_of(const lab& l) {
  return [all = load_recorded_times(std::getenv("STEPWISE_SOURCE"), l, "NVIDIA H200")](
             const std::string& name, const lab_size& size) { return all.find(name, size); };
}

// The steps whose promise is "?" in steps.txt: to be made when they have been measured.
bool is_open(const lab& l, const step& wanted) {
  std::ifstream stream(solutions_of(l) / "steps.txt");
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string name, over, at_least;
    if (words >> name >> over >> at_least && name == wanted.name) return at_least == "?";
  }
  return false;
}

TEST_CASE("every step is as much faster as steps.txt promises, as it was measured") {
  std::size_t judged = 0;
  for (const lab& l : load_labs(std::getenv("STEPWISE_SOURCE"))) {
    const auto times = times_of(l);
    const auto promises = judge_promises(l, times);
    for (const promise& p : promises) {
      CHECK_MESSAGE(!p.is_broken(), l.name, ": ", promise_text(p));
      if (p.ratio) ++judged;
    }
    for (const step& s : l.steps) {
      if (!s.at_least) continue;
      const bool has_records = std::any_of(promises.begin(), promises.end(), [&](const promise& p) {
        return p.step == s.name && p.ratio.has_value();
      });
      CHECK_MESSAGE(has_records, l.name, " ", s.name,
                    ": promises what no record can show; `?` stands for a step to be measured");
    }
  }
  CHECK(judged > 50);
}

TEST_CASE("a step that promises nothing yet has not been measured beside the one before") {
  for (const lab& l : load_labs(std::getenv("STEPWISE_SOURCE"))) {
    const auto times = times_of(l);
    for (const step& s : l.steps) {
      if (!is_open(l, s)) continue;
      bool measured = false;
      for (const lab_size& size : l.promised)
        measured = measured || (times(s.name, size) && times(s.over, size));
      CHECK_MESSAGE(!measured, l.name, " ", s.name, ": was measured, so `?` may become a promise");
      if (!measured)
        MESSAGE("not judged: ", l.name, " ", s.name, " over ", s.over,
                " has no record; `./lab bench ", l.name, " --peers --record` makes one");
    }
  }
}

}  // namespace
