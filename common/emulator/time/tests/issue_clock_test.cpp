// Tests the clock of one warp, on code made by hand.
#include "common/emulator/time/issue_clock.hpp"

#include <doctest/doctest.h>

#include "common/emulator/time/tests/made_code.hpp"

namespace stepwise::emulator {
namespace {

// The cycles for `times` passes through the whole code. All loads have the same latency.
double cycles_of_warp(const made_code& m, unsigned times, double load_latency = 0,
                      double l1_pipe = 1) {
  issue_order order(m.code, h200());
  issue_clock clock(order, 1000);
  const auto length = static_cast<std::uint32_t>(m.code.at.size());
  for (unsigned n = 0; n < times; ++n) {
    for (std::uint32_t i = 0; i < length; ++i)
      if (m.code.at[i].is_memory) clock.accessed(i, load_latency, l1_pipe);
    clock.executed(order, 0, length);
  }
  return clock.now() - 1000;
}

const unit_cost& of(unit u) { return h200().of[static_cast<int>(u)]; }

TEST_CASE(
    "issue clock: dependent products take their latency, independent ones their pipe's time") {
  made_code chain, apart;
  for (std::uint32_t n = 0; n < 64; ++n) {
    chain.fma(0, 0);
    apart.fma(n + 100, 1);
  }
  CHECK(cycles_of_warp(chain, 10) == doctest::Approx(640 * of(unit::fma).latency).epsilon(0.01));
  CHECK(cycles_of_warp(apart, 10) ==
        doctest::Approx(640 * std::max(1.0, of(unit::fma).interval)).epsilon(0.01));
}

TEST_CASE("issue clock: dependent loads take the latency that they are given") {
  made_code chase;
  chase.add(step_kind::load, unit::load_store, {0}, {0});
  CHECK(cycles_of_warp(chase, 100, 650) == doctest::Approx(100 * 650).epsilon(0.02));
  CHECK(cycles_of_warp(chase, 100, 23) == doctest::Approx(100 * 23).epsilon(0.02));
  // No instruction waits for these loads, but each load occupies the L1 pipe for four cycles.
  made_code stream;
  for (std::uint32_t n = 0; n < 8; ++n) stream.load(n);
  CHECK(cycles_of_warp(stream, 10, 650, 4) == doctest::Approx(80 * 4).epsilon(0.1));
}

TEST_CASE(
    "issue clock: an iteration ends with its branch, or with part of one if ptxas unrolled it") {
  made_code loop;
  loop.add(step_kind::compute, unit::integer, {0}, {0});
  loop.add(step_kind::compute, unit::alu, {1}, {0});
  loop.add(step_kind::branch, unit::branch, {}, {1});
  const double iteration = cycles_of_warp(loop, 100) / 100;
  const double measured = of(unit::integer).latency + h200().predicate + h200().branch;
  CHECK(iteration == doctest::Approx(measured).epsilon(0.1));
  loop.code.at.back().slots = 0.25F;
  CHECK(cycles_of_warp(loop, 100) / 100 < 0.7 * iteration);
}

TEST_CASE("issue clock: waiting moves it forward, never back") {
  made_code m;
  m.fma(0, 0);
  issue_order order(m.code, h200());
  issue_clock clock(order, 5);
  clock.wait_until(100);
  CHECK(clock.now() == 100);
  clock.wait_until(50);
  CHECK(clock.now() == 100);
  clock.executed(order, 0, 1);
  CHECK(clock.now() == 101);
  clock.executed(order, 1, 1);
  CHECK(clock.now() == 101);
}

}  // namespace
}  // namespace stepwise::emulator
