// Rooflines of hand-written calls.
#include "grader/model/roofline.hpp"

#include <doctest/doctest.h>

#include "grader/model/tests/made_profiles.hpp"

using namespace stepwise;

namespace {

machine_peaks some_peaks() {
  machine_peaks p;
  p.flops = 100e12;
  p.instructions = 1e12;
  p.l1_pipe_bytes = 32e12;
  p.l2_bytes = 8e12;
  p.dram_bytes = 4e12;
  return p;
}

// 10 us, 4 MB from DRAM, 8 MB from L2, and a million warp instructions.
kernel_profile some_kernel() {
  kernel_profile k = kernel_of(10);
  k.timing.instructions = 1e6;
  k.total.global_load.sectors = 500000;
  k.total.global_load.l2_sectors = 250000;
  k.total.global_load.dram_read_bytes = 4000000;
  return k;
}

}  // namespace

TEST_CASE("operations over bytes: the problem's operations, under the roof of each level") {
  const roofline r = operations_roofline({some_kernel()}, 8e6, "flop", some_peaks());
  REQUIRE(r.points.size() == 2);
  CHECK(r.points[0].name == "DRAM");
  CHECK(r.points[0].x == doctest::Approx(2));
  CHECK(r.points[0].y == doctest::Approx(8e11));
  CHECK(r.points[1].x == doctest::Approx(1));
  CHECK(r.peak == 100e12);
  CHECK(r.ceiling(0, 2) == doctest::Approx(8e12));
  CHECK(r.ceiling(0, 1000) == 100e12);
  // Single operations, such as additions, have half the peak of multiply-adds.
  CHECK(operations_roofline({some_kernel()}, 8e6, "additions", some_peaks()).peak == 50e12);
}

TEST_CASE("instructions over transactions, at each level that the kernel uses") {
  const kernel_profile k = some_kernel();
  const roofline r = instruction_roofline(analyse(k, 10, 132), some_peaks());
  REQUIRE(r.points.size() == 3);
  CHECK(r.points[0].x == doctest::Approx(8));
  CHECK(r.points[1].x == doctest::Approx(4));
  CHECK(r.points[2].x == doctest::Approx(2));
  CHECK(r.points[0].y == doctest::Approx(1e11));
  CHECK(r.roofs[0].slope == doctest::Approx(4e12 / 32));
}

TEST_CASE("a level without traffic has no point, and an unknown GPU has no roofs") {
  const kernel_profile k = kernel_of(10);
  CHECK(instruction_roofline(analyse(k, 10, 132), some_peaks()).points.empty());
  const kernel_profile other = some_kernel();
  const roofline r = instruction_roofline(analyse(other, 10, 132), {});
  CHECK(r.points.size() == 3);
  CHECK(r.roofs.empty());
}
