// Speeds in practice mode, of fake runners: what decides a goal, and how often programs are called.
#include "grader/grade/speed.hpp"

#include <doctest/doctest.h>

#include "grader/grade/host_time.hpp"
#include "grader/judge/tests/two_programs.hpp"

using namespace stepwise;
using namespace stepwise::tests;

TEST_CASE("an interval decides a goal, or says that it does not") {
  CHECK(decide({1.5, 1.7}, 1.5) == decision::above);
  CHECK(decide({1.2, 1.4}, 1.5) == decision::below);
  CHECK(decide({1.4, 1.6}, 1.5) == decision::open);
}

TEST_CASE("host time counts beyond that of empty calls and of the course's own programs") {
  const std::vector<double> empty = {0.01, 0.01, 0.02, 0.01, 0.015};
  CHECK(allowed_host_ms({}, {}) == 0);
  CHECK(allowed_host_ms(empty, {}) == 0.02);
  CHECK(allowed_host_ms(empty, {{0.005, 0.9, 0.01}}) == 0.02);
  // All calls wait when other work keeps the cores busy.
  CHECK(allowed_host_ms(empty, {{0.01, 0.01, 0.01}, {0.05, 0.06, 0.07}}) == 0.06);
  const std::vector<double> device = {0.4, 0.4, 0.5};
  CHECK(times_that_count(device, {0.06, 0.05, 0.06}, 0.06) == device);
  // A delay in one of three rounds is not the program's fault. A computation in all three rounds
  // is.
  CHECK(times_that_count(device, {3, 0.05, 0.05}, 0.06) == device);
  const auto counted = times_that_count(device, {1.06, 3.06, 1.31}, 0.06);
  CHECK(counted[0] == doctest::Approx(1.4));
  CHECK(counted[1] == doctest::Approx(1.65));
  CHECK(counted[2] == doctest::Approx(1.75));
}

TEST_CASE("a speedup is the median ratio of alternating pairs") {
  const two_programs programs("0.5", "1");
  auto device = gpu_device();
  device.state.memory_bytes = std::size_t{1} << 30;  // room for all buffers
  const contender first{"00_first", programs.build() / "solutions/doubling-00_first"};
  const auto all = compare(doubling_lab(), doubling(), {"mine", programs.mine()},
                           {{first, {1.5}}, {first, {2.0, 3.0}}}, device, {1000}, 7, {});
  REQUIRE(all.size() == 2);
  for (const auto& run : all) {
    REQUIRE(run.found.ok());
    CHECK(run.ratio == doctest::Approx(2));
    CHECK(run.range.low >= 1.9);
    CHECK(run.ratios.size() == 8);
    CHECK(run.input_bytes == 4000);
    CHECK(run.attempts == 1);
  }
}

TEST_CASE("in practice mode, buffers stay on the device, and the last call is checked") {
  auto device = gpu_device();
  device.state.memory_bytes = std::size_t{1} << 30;
  const two_programs programs("0.5", "1");
  const contender first{"00_first", programs.other()};
  REQUIRE(compare(doubling_lab(), doubling(), {"mine", programs.mine()}, {{first, {1.5}}}, device,
                  {1000}, 7, {})[0]
              .found.ok());
  CHECK(programs.calls({"uploaded"}) == 1);
  CHECK(programs.calls({"cold"}) == 9);

  const two_programs wrong("0.5", "1", "wrong");
  const auto all = compare(doubling_lab(), doubling(), {"mine", wrong.mine()}, {{first, {1.5}}},
                           device, {1000}, 7, {});
  CHECK(all[0].found.what == verdict::wrong);
  CHECK(all[0].whose == "mine");
}
