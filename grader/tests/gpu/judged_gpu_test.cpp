// Tests the requirements of judged grades on a GPU: the verdict is the same no matter how often a
// file is graded, a step is as fast as itself, and a program's times are those that it has in
// practice mode. Runs the built program; needs a GPU and the built steps.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "common/testing/skip_case.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/judge/device_choice.hpp"

using namespace stepwise;

namespace {

bool has_no_gpu() {
  if (probe_gpu({}).device) return false;
  skip_case("there is no GPU to judge on");
  return true;
}

json grade(const cloned_course& c, std::vector<std::string> words) {
  words.insert(words.begin(), "grade");
  words.insert(words.end(), {"--device", "gpu", "--json"});
  const json document = document_of(run_child(c.command(std::move(words)), 300));
  check_documented(document);
  return document;
}

// The speedup of the first goal that has a speedup.
json speedup_of(const json& grade) {
  for (const auto& goal : grade.at("goals"))
    if (goal.contains("speedup")) return goal.at("speedup");
  return nullptr;
}

}  // namespace

// STEPWISE_GRADES sets how often the step is graded. The default is 30.
TEST_CASE("a step has the same verdict each time") {
  if (has_no_gpu()) return;
  const cloned_course c;
  const char* const wanted = std::getenv("STEPWISE_GRADES");
  const int times = wanted != nullptr ? std::atoi(wanted) : 30;
  std::set<std::string> verdicts;
  for (int i = 0; i < times; ++i) {
    const json one = grade(c, {"transpose", "--step", "09", "--seed", std::to_string(1 + i)});
    verdicts.insert(one.at("class").get<std::string>() + ", " + one.at("points").dump());
    if (one.at("class") != "PASS") MESSAGE(one.at("message").get<std::string>());
  }
  CHECK(verdicts == std::set<std::string>{"PASS, 100.0"});
}

TEST_CASE("a step is as fast as itself, within the reported interval") {
  if (has_no_gpu()) return;
  const cloned_course c;
  for (const auto& [lab_name, step] :
       {std::pair{"transpose", "03_element"}, std::pair{"reduction", "01_interleaved"},
        std::pair{"launch", "02_blocks"}}) {
    c.change_lab(lab_name, [&](json& entry) {
      const auto reach =
          std::ranges::find_if(entry["goals"], [](const json& g) { return g["kind"] == "reach"; });
      REQUIRE(reach != entry["goals"].end());
      (*reach)["over"] = step;
    });
    const json one = grade(c, {lab_name, "--step", step});
    for (const auto& g : one.at("goals")) {
      if (!g.contains("speedup") || g.at("speedup").at("over") != step) continue;
      CAPTURE(g.dump());
      const auto& measured = g.at("speedup");
      MESSAGE(std::string(step), " against itself: ", measured.at("ratio").get<double>(), ", ",
              measured.at("low").get<double>(), " to ", measured.at("high").get<double>());
      CHECK(measured.at("low").get<double>() <= 1.005);
      CHECK(measured.at("high").get<double>() >= 0.995);
      CHECK(measured.at("ratio").get<double>() == doctest::Approx(1).epsilon(0.02));
    }
  }
}

TEST_CASE("a judged call takes as long as in practice mode with NVIDIA's runtime") {
  if (has_no_gpu()) return;
  const cloned_course c;
  for (const auto& [lab_name, step] :
       {std::pair{"reduction", "10"}, std::pair{"launch", "03"}, std::pair{"blur", "11"},
        std::pair{"matmul", "09"}, std::pair{"neighbour", "05"}}) {
    const double judged =
        speedup_of(grade(c, {lab_name, "--step", step, "--seed", "5"})).at("time_ms");
    const double own =
        speedup_of(grade(c, {lab_name, "--step", step, "--seed", "5", "--practice"})).at("time_ms");
    CAPTURE(std::string(lab_name));
    MESSAGE(std::string(lab_name), " ", std::string(step), ": judged ", judged,
            " ms, in practice mode ", own, " ms");
    if (own >= 0.1) CHECK(std::abs(judged / own - 1) <= 0.02);
  }
}
