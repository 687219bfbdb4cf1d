// The guided analysis of hand-written profiles.
#include "grader/model/analysis.hpp"

#include <doctest/doctest.h>

#include "grader/model/comparison.hpp"
#include "grader/model/tests/made_profiles.hpp"

using namespace stepwise;

TEST_CASE("limiter: latency if both are below 60 %, both if they are nearly equal") {
  const auto limit = [](double compute, double memory) {
    kernel_profile k = kernel_of(10);
    set_busy(k, part::issue, compute);
    set_busy(k, part::dram, memory);
    return limiter_of(utilisation_of(k.timing));
  };
  CHECK(limit(0.59, 0.59) == limiter::latency);
  CHECK(limit(0.1, 0.6) == limiter::memory);
  CHECK(limit(0.6, 0.1) == limiter::compute);
  CHECK(limit(0.67, 0.58) == limiter::both);
  CHECK(limit(0.58, 0.67) == limiter::both);
  CHECK(limit(0.75, 0.64) == limiter::compute);
  CHECK(limit(0.64, 0.75) == limiter::memory);
}

TEST_CASE("the busiest unit represents compute, or memory") {
  kernel_profile k = kernel_of(10);
  set_busy(k, part::issue, 0.3);
  set_busy(k, part::alu, 0.1);
  set_busy(k, part::fma, 0.4);
  set_busy(k, part::l1_pipe, 0.2);
  set_busy(k, part::l2, 0.7);
  set_busy(k, part::dram, 0.5);
  set_busy(k, part::atomics, 0.1);
  const utilisation u = utilisation_of(k.timing);
  CHECK(u.compute == 0.4);
  CHECK(u.compute_part == part::fma);
  CHECK(u.memory == 0.7);
  CHECK(u.memory_part == part::l2);
}

TEST_CASE("kernels are ranked by time, and have a share of the call's time") {
  const std::vector<kernel_profile> call = {kernel_of(10), kernel_of(30), kernel_of(0)};
  const auto order = ranked(call);
  CHECK(order[0] == &call[1]);
  CHECK(order[1] == &call[0]);
  CHECK(order[2] == &call[2]);
  CHECK(analyse(*order[0], 40, 132).share == 0.75);
}

TEST_CASE("launches of one kernel are grouped, whatever their grids") {
  std::vector<kernel_profile> call = {kernel_of(10), kernel_of(25), kernel_of(20)};
  call[0].mangled = call[2].mangled = "a";
  call[0].launches = 3;
  call[1].mangled = call[1].kernel = "b";
  const auto together = by_kernel(call);
  REQUIRE(together.size() == 2);
  CHECK(together[0].us == 30);
  CHECK(together[0].launches == 4);
  CHECK(together[0].average_us() == 7.5);
  REQUIRE(together[0].configurations.size() == 2);
  CHECK(together[0].configurations[0] == &call[2]);
  CHECK(together[1].kernel == "b");
}

TEST_CASE("memory: bytes cover the whole launch, and lines are ordered by waste") {
  kernel_profile k = kernel_of(10);
  k.timing.counted = 0.5;
  line_profile& good = add_line(k, 1);
  good.counts.global_load = sectors(10, 40, 40);
  line_profile& strided = add_line(k, 2);
  strided.counts.global_store = sectors(10, 320, 40);
  line_profile& conflicts = add_line(k, 3);
  conflicts.counts.shared_load = wavefronts(10, 20, 10);
  sum_up(k);
  k.total.global_store.l2_sectors = 320;
  k.total.global_store.dram_write_bytes = 1000;
  const kernel_analysis a = analyse(k, 10, 132);
  CHECK(a.bytes.global == 2 * 360 * 32);
  CHECK(a.bytes.shared == 2 * 20 * 128);
  CHECK(a.bytes.l2 == 2 * 320 * 32);
  CHECK(a.bytes.dram == 2000);
  REQUIRE(a.accesses.size() == 3);
  CHECK(a.accesses[0].at.line == 2);
  CHECK(a.accesses[2].at.line == 1);
  REQUIRE(a.wasteful.size() == 2);
  CHECK(a.wasteful[0].cost.what == access::global_store);
  CHECK(a.wasteful[0].cost.per_request() == 32);
  CHECK(a.wasteful[0].cost.ideal_per_request() == 4);
  CHECK(a.wasteful[0].share == 1);  // of the sectors
  CHECK(a.wasteful[1].cost.what == access::shared_load);
  CHECK(a.wasteful[1].share == 1);  // of the wavefronts
}

TEST_CASE("memory: the traffic that the time model reports replaces extrapolated counts") {
  kernel_profile k = kernel_of(10);
  k.timing.counted = 0.5;
  add_line(k, 1).counts.global_load = sectors(10, 40, 40);
  sum_up(k);
  k.total.global_load.l2_sectors = 40;
  k.timing.traffic = level_traffic{.l1_sectors = 100,
                                   .shared_wavefronts = 3,
                                   .loads = 100,
                                   .load_hits = 80,
                                   .l2_sectors = 20,
                                   .l2_hits = 15,
                                   .dram_read_bytes = 160,
                                   .dram_write_bytes = 40,
                                   .dram_earlier_bytes = 1000};
  CHECK(bytes_of(k).global == 100 * 32);
  CHECK(bytes_of(k).shared == 3 * 128);
  CHECK(bytes_of(k).l2 == 20 * 32);
  CHECK(bytes_of(k).dram == 200);  // without the bytes that earlier kernels stored
  k.timing.counted = 1;            // all blocks were counted, so their requests are known
  CHECK(bytes_of(k).global == 40 * 32);
  CHECK(bytes_of(k).shared == 0);
  CHECK(bytes_of(k).l2 == 20 * 32);
}

TEST_CASE("an access that costs 25 % more than its ideal is not wasteful") {
  kernel_profile k = kernel_of(10);
  add_line(k, 1).counts.global_load = sectors(4, 5, 4);
  CHECK(analyse(k, 10, 132).wasteful.empty());
  k.lines[0].counts.global_load = sectors(4, 6, 4);
  CHECK(analyse(k, 10, 132).wasteful.size() == 1);
}

TEST_CASE("compute: the mix of pipes, active lanes and divergence, in total and by line") {
  kernel_profile k = kernel_of(10);
  line_profile& all = add_line(k, 1);
  all.counts.instructions[static_cast<int>(pipe::fp32)] = {10, 320};
  line_profile& few = add_line(k, 2);
  few.counts.instructions[static_cast<int>(pipe::integer)] = {30, 480};
  few.counts.branches = 8;
  few.counts.divergent_branches = 2;
  sum_up(k);
  const kernel_analysis a = analyse(k, 10, 132);
  REQUIRE(a.mix.size() == 2);
  CHECK(a.mix[0].of == pipe::integer);
  CHECK(a.integer_share() == 0.75);
  CHECK(a.float_share() == 0.25);
  CHECK(a.lanes == 20);
  CHECK(a.divergent == 0.25);
  REQUIRE(a.executed.size() == 2);
  CHECK(a.executed[0].at.line == 2);
  CHECK(a.executed[0].share == 0.75);
  CHECK(a.executed[0].lanes == 16);
}

TEST_CASE("latency: occupancy, the fraction of the GPU in use, stalls, and their sources") {
  kernel_profile k = kernel_of(10);
  k.grid = {132, 1, 1};
  k.fits.blocks = 2;
  k.resident_warps = 32;
  k.timing.active_warps = 16;
  line_profile& load = add_line(k, 1);
  load.stalled.of[static_cast<int>(stall::not_selected)] = 10;
  line_profile& use = add_line(k, 2);
  use.stalled.of[static_cast<int>(stall::memory_dependency)] = 60;
  use.stalled.of[static_cast<int>(stall::pipe_busy)] = 30;
  use.waited_for = {{load.at, 60}};
  const kernel_analysis a = analyse(k, 10, 132);
  CHECK(a.theoretical_occupancy == 0.5);
  CHECK(a.achieved_occupancy == 0.25);
  CHECK(a.blocks_per_place == 0.5);
  REQUIRE(a.stalled.size() == 3);
  CHECK(a.stalled[0].why == stall::memory_dependency);
  CHECK(a.stall_of(stall::memory_dependency) == 0.6);
  REQUIRE(a.lines.size() == 2);
  CHECK(a.lines[0].at.line == 2);
  CHECK(a.lines[0].share == 0.9);
  REQUIRE(a.lines[0].whose);
  CHECK(a.lines[0].whose->line == 1);
  CHECK(!a.lines[1].whose);
}

TEST_CASE("a line that waits for its own result names no other line") {
  kernel_profile k = kernel_of(10);
  line_profile& l = add_line(k, 7);
  l.stalled.of[0] = 1;
  l.waited_for = {{l.at, 1}};
  CHECK(!analyse(k, 10, 132).lines[0].whose);
}

TEST_CASE("experiments: the largest gain first, and none unless requested") {
  kernel_profile k = kernel_of(100);
  CHECK(analyse(k, 100, 132).gains.empty());
  CHECK(analyse(k, 100, 132).gain_of(what_if::no_bank_conflicts) == 1);
  k.timing.experiments_us = {100, 50, 80, 25, 100, 100};
  const kernel_analysis a = analyse(k, 100, 132);
  REQUIRE(a.gains.size() == 6);
  CHECK(a.gains[0].what == what_if::no_bank_conflicts);
  CHECK(a.gains[0].gain == 4);
  CHECK(a.gains[1].what == what_if::no_arithmetic);
  CHECK(a.gain_of(what_if::perfect_coalescing) == 1.25);
}

TEST_CASE("two calls side by side: sums over all kernels, and which figures are better or worse") {
  kernel_profile slow = kernel_of(100), fast = kernel_of(50);
  add_line(slow, 1).counts.shared_load = wavefronts(100, 400, 100);
  add_line(fast, 1).counts.shared_load = wavefronts(100, 100, 100);
  sum_up(slow);
  sum_up(fast);
  slow.timing.counted = 0.5;
  slow.timing.instructions = 1000;
  fast.timing.instructions = 2000;
  set_busy(slow, part::l1_pipe, 0.9);
  set_busy(fast, part::issue, 0.9);
  const std::vector<kernel_profile> before = {kernel_of(10), slow}, after = {fast};
  const call_comparison c = compare(before, after, 132);
  CHECK(c.before.limit == limiter::memory);
  CHECK(c.after.limit == limiter::compute);
  const auto figure = [&](const std::string& name) {
    for (const compared_figure& f : c.figures)
      if (f.name == name) return f;
    FAIL("no ", name);
    return compared_figure{};
  };
  CHECK(figure("time").before == 110);
  CHECK(figure("time").is_better());
  CHECK(figure("machine instructions").is_worse());
  CHECK(figure("bank conflicts (wasted wavefronts)").before == 600);
  CHECK(figure("bank conflicts (wasted wavefronts)").after == 0);
  CHECK(figure("bank conflicts (wasted wavefronts)").is_better());
  CHECK(!figure("active lanes of 32").is_better());
  CHECK(!figure("busy: issue").is_worse());  // neither direction is better
  for (const compared_figure& f : c.figures) CHECK(f.name != "sectors per local load");
}
