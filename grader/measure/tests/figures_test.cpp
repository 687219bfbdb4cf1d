// The figures of a call.
#include "grader/measure/figures.hpp"

#include <doctest/doctest.h>

#include "grader/judge/tests/doubling.hpp"

using namespace stepwise;
using namespace stepwise::tests;

TEST_CASE("figures: counted on the emulator, timed on a GPU") {
  const fake behaviour("good", "0.5");
  const lab l = doubling_lab();
  const auto counted =
      measure_program(l, doubling(), fake_runner(), emulated_device(), {1000}, 7, {});
  REQUIRE(counted.found.ok());
  CHECK(!counted.timed());
  REQUIRE(counted.counters);
  CHECK(counted.counters->warp_instructions == 100);
  const auto timed = measure_program(l, doubling(), fake_runner(), gpu_device(), {1000}, 7, {});
  REQUIRE(timed.timed());
  CHECK(timed.time_ms == doctest::Approx(0.5));
  CHECK(timed.gb_per_s() == doctest::Approx(8000 / 0.5e-3 / 1e9));
  CHECK(figure_size(l, gpu_device(), {}) == lab_size{100000});
  CHECK(figure_size(l, emulated_device(), {}) == lab_size{1000});
}

TEST_CASE("the modelled size fits the largest grid of the emulated GPU") {
  lab l = doubling_lab();
  l.modelled = {{16777216}};
  l.emulated = {{1000}};
  l.bench = {{2097120}, {2097121}, {500}};
  gpu old, today;
  old.max_grid[0] = 65535;
  today.max_grid[0] = 2147483647;
  CHECK(modelled_size(l, today) == lab_size{16777216});
  CHECK(modelled_size(l, old) == lab_size{2097120});  // 65535 warps
  l.bench = {{16777216}};
  CHECK(modelled_size(l, old) == lab_size{1000});
  l.modelled = {{4096}};
  CHECK(modelled_size(l, old) == lab_size{4096});
}
