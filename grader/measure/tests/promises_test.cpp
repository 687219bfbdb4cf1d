// Tests how the promises of steps.txt are judged.
#include "grader/measure/promises.hpp"

#include <doctest/doctest.h>

namespace {

using namespace stepwise;

// 10 ms, 5 ms and 4 ms at 1024. At 2048 the first step is too slow to have a time.
std::optional<double> time_ms(const std::string& name, const lab_size& size) {
  if (size != lab_size({1024}) && name == "00_a") return std::nullopt;
  return name == "00_a" ? 10 : name == "01_b" ? 5 : 4;
}

TEST_CASE("a promise is judged at the lab's sizes or its own sizes, if they were measured") {
  lab l;
  l.promised = {{1024}, {2048}};
  l.steps = {{"00_a", "", {}, "x", ""},
             {"01_b", "00_a", 2, "y", ""},
             {"02_c", "01_b", 1.3, "z", "", {{2048}}},
             {"03_d", "02_c", {}, "w", ""}};
  const auto judged = judge_promises(l, time_ms);
  REQUIRE(judged.size() == 3);
  CHECK(judged[0].size == lab_size({1024}));
  CHECK(judged[0].ratio == 2);
  CHECK(!judged[0].is_broken());  // exactly as promised
  CHECK(judged[1].size == lab_size({2048}));
  CHECK(!judged[1].ratio);
  CHECK(!judged[1].is_broken());
  CHECK(promise_text(judged[1]) == "01_b over 00_a at 2048: not measured; promised: at least 2.00");
  CHECK(judged[2].step == "02_c");
  CHECK(judged[2].is_broken());
  CHECK(promise_text(judged[2]) ==
        "02_c runs at 1.250x the speed of 01_b at 2048; promised: at least 1.30");
}

}  // namespace
