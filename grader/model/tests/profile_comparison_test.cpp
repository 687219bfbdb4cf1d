// The model's kernels next to ncu's: figures, errors, limiters, and what a record stores.
#include "grader/model/profile_comparison.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

namespace {

figures_of_kernel kernel(double us, double l1, double compute, double memory) {
  figures_of_kernel k;
  k.mangled = "_Z1kv";
  k.of = {us, 1000, 0.5, l1, 4096, 0};
  k.compute = compute;
  k.memory = memory;
  return k;
}

compared_profile compared(const figures_of_kernel& hardware, const figures_of_kernel& modelled) {
  return {"01_step", {64}, hardware, modelled};
}

}  // namespace

TEST_CASE("a kernel's figures: achieved occupancy, hit rate of loads, and bytes at each level") {
  kernel_profile k;
  k.mangled = "_Z1kv";
  k.most_warps = 64;
  k.timing.us = 12;
  k.timing.instructions = 300;
  k.timing.active_warps = 16;
  k.timing.busy[static_cast<int>(part::fma)] = 0.7;
  k.timing.busy[static_cast<int>(part::dram)] = 0.4;
  level_traffic t;
  t.loads = 100;
  t.load_hits = 25;
  t.l2_sectors = 10;
  t.dram_read_bytes = 64;
  t.dram_write_bytes = 32;
  k.timing.traffic = t;
  const figures_of_kernel f = figures_of(k);
  CHECK(f[kernel_figure::time] == 12);
  CHECK(f[kernel_figure::instructions] == 300);
  CHECK(f[kernel_figure::occupancy] == doctest::Approx(0.25));
  CHECK(f[kernel_figure::l1_hit_rate] == doctest::Approx(0.25));
  CHECK(f[kernel_figure::l2_bytes] == doctest::Approx(320));
  CHECK(f[kernel_figure::dram_bytes] == doctest::Approx(96));
  CHECK(f.limit() == limiter::compute);
  const figures_of_kernel kept = figures_from(figures_json(f));
  CHECK(kept.mangled == f.mangled);
  CHECK(kept.of == f.of);
  CHECK(kept.limit() == f.limit());
}

TEST_CASE("errors are relative, or in points for a hit rate; uncounted figures have none") {
  const auto one = compared(kernel(10, 0.5, 0, 0), kernel(12, 0.4, 0, 0));
  CHECK(*one.error(kernel_figure::time) == doctest::Approx(0.2));
  CHECK(*one.error(kernel_figure::l1_hit_rate) == doctest::Approx(-0.1));
  CHECK(!one.error(kernel_figure::dram_bytes));
  std::vector<compared_profile> ten(10, one);
  ten[9].modelled.of[0] = 30;
  const auto errors = figure_errors(ten);
  REQUIRE(errors.size() == kernel_figures - 1);
  CHECK(errors[0].figure == kernel_figure::time);
  CHECK(errors[0].median == doctest::Approx(0.2));
  CHECK(errors[0].worst_tenth == doctest::Approx(0.2));
}

TEST_CASE("limits agree if they are equal, or if one side cannot separate memory from compute") {
  const auto agree = [](figures_of_kernel a, figures_of_kernel b) {
    return compared(a, b).limits_agree();
  };
  const auto memory = kernel(1, 0, 0.2, 0.8), compute = kernel(1, 0, 0.8, 0.2),
             both = kernel(1, 0, 0.8, 0.75), latency = kernel(1, 0, 0.5, 0.5);
  CHECK(agree(memory, memory));
  CHECK(agree(both, compute));
  CHECK(agree(memory, both));
  CHECK(!agree(memory, compute));
  CHECK(!agree(both, latency));
  CHECK(!agree(latency, memory));
}
