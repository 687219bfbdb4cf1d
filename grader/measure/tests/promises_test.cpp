// Tests of what is made of the promises of steps.txt.
#include "grader/measure/promises.hpp"

#include <doctest/doctest.h>

namespace {

using namespace stepwise;

// 10 ms, 5 ms, 4 ms at 1024; at 2048 the first step is too slow.
std::optional<double> time_ms(const std::string& name, const lab_size& size) {
  if (size != lab_size({1024}) && name == "00_a") return std::nullopt;
  return name == "00_a" ? 10 : name == "01_b" ? 5 : 4;
}

lab with_steps(const std::string& text) {
  lab l;
  l.promised = {{1024}, {2048}};
  l.steps = parse_steps(text, "steps.txt", "dir");
  return l;
}

TEST_CASE("a promise is judged at the lab's sizes, or at its own, as far as they were measured") {
  const lab l = with_steps("00_a - - x\n01_b 00_a 2 y\n02_c 01_b 1.3@2048 z\n03_d 02_c - w\n");
  const auto judged = judge_promises(l, time_ms);
  REQUIRE(judged.size() == 3);
  CHECK(judged[0].size == lab_size({1024}));
  CHECK(judged[0].ratio == 2);
  CHECK(!judged[0].is_broken());  // exactly what was promised
  CHECK(judged[1].size == lab_size({2048}));
  CHECK(!judged[1].ratio);
  CHECK(!judged[1].is_broken());
  CHECK(promise_text(judged[1]) ==
        "01_b over 00_a at 2048: not measured, at least 2.00 was promised");
  CHECK(judged[2].step == "02_c");
  CHECK(judged[2].is_broken());
  CHECK(promise_text(judged[2]) ==
        "02_c is 1.250 times as fast as 01_b at 2048, at least 1.30 was promised");
}

TEST_CASE("a promise's sizes are read; what is none is refused") {
  const auto steps =
      parse_steps("00_a - - x\n01_b 00_a 1.5@1920x1080,32 y\n02_c 01_b ? z\n", "steps.txt", "dir");
  CHECK(steps[1].at_least == 1.5);
  CHECK(steps[1].promised == std::vector<lab_size>({{1920, 1080}, {32}}));
  CHECK(!steps[2].at_least);
  for (const char* const wrong : {"1.5@", "1.5@a", "1.5@8x", "@8", "0@8", "1.5@8,,9", "1.5x@8"}) {
    CAPTURE(wrong);
    CHECK_THROWS(with_steps("00_a - - x\n01_b 00_a " + std::string(wrong) + " y\n"));
  }
}

}  // namespace
