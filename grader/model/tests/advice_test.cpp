// Tests the advice, and the suggested step, for hand-written profiles.
#include "grader/model/advice.hpp"

#include <doctest/doctest.h>

#include <map>

#include "grader/model/tests/made_profiles.hpp"

using namespace stepwise;

namespace {

std::vector<cause> causes_found(const kernel_profile& k) {
  std::vector<cause> all;
  for (const found_cause& f : causes_of(analyse(k, k.timing.us, 132))) all.push_back(f.what);
  return all;
}

bool names(const kernel_profile& k, cause c) {
  const std::vector<cause> all = causes_found(k);
  return std::ranges::find(all, c) != all.end();
}

// A line with bank conflicts. `without_us` is the time that the model predicts without them.
kernel_profile with_conflicts(double us, std::uint64_t waste, double without_us) {
  kernel_profile k = kernel_of(us);
  set_busy(k, part::l1_pipe, 0.8);
  add_line(k, 1).counts.shared_load = wavefronts(100, 100 + waste, 100);
  sum_up(k);
  k.timing.experiments_us = {us, us, us, without_us, us, us};
  return k;
}

lab four_steps() {
  lab l;
  l.name = "doubling";
  l.skeleton = "01_a";
  for (const char* name : {"00_z", "01_a", "02_b", "03_c", "04_d"}) {
    step s;
    s.name = name;
    l.steps.push_back(s);
  }
  return l;
}

}  // namespace

TEST_CASE("causes whose removal the model predicts come first, by their gain") {
  kernel_profile k = with_conflicts(100, 300, 80);
  CHECK(causes_found(k) == std::vector{cause::bank_conflicts, cause::l1_traffic});
  add_line(k, 2).counts.global_load = sectors(100, 3200, 400);
  sum_up(k);
  k.timing.experiments_us[static_cast<int>(what_if::perfect_coalescing)] = 50;
  CHECK(causes_found(k) ==
        std::vector{cause::uncoalesced, cause::bank_conflicts, cause::l1_traffic});
  CHECK(causes_of(analyse(k, 100, 132))[0].gain == 2);
}

TEST_CASE("without experiments, the most wasteful line gives the first cause") {
  kernel_profile k = with_conflicts(100, 900, 80);
  add_line(k, 2).counts.global_store = sectors(10, 10, 1);
  sum_up(k);
  k.timing.experiments_us.clear();
  CHECK(causes_found(k)[0] == cause::bank_conflicts);
  add_line(k, 3).counts.global_load = sectors(1000, 32000, 4000);
  sum_up(k);
  CHECK(causes_found(k)[0] == cause::uncoalesced);
}

TEST_CASE("a small gain that does not concern the bottleneck comes last, a clear gain first") {
  kernel_profile k = with_conflicts(100, 300, 96);
  set_busy(k, part::l1_pipe, 0.2);
  set_busy(k, part::issue, 0.9);
  CHECK(causes_found(k) == std::vector{cause::instructions, cause::bank_conflicts});
  k.timing.experiments_us[static_cast<int>(what_if::no_bank_conflicts)] = 60;
  CHECK(causes_found(k) == std::vector{cause::bank_conflicts, cause::instructions});
}

TEST_CASE("waste that costs no time is not a cause") {
  CHECK(causes_found(with_conflicts(100, 300, 99.5)) == std::vector{cause::l1_traffic});
}

TEST_CASE("each branch has its own causes") {
  kernel_profile k = kernel_of(100);
  SUBCASE("memory: by the busiest unit") {
    set_busy(k, part::l2, 0.9);
    CHECK(causes_found(k) == std::vector{cause::l2_traffic});
    set_busy(k, part::dram, 0.95);
    CHECK(causes_found(k) == std::vector{cause::dram_traffic});
    set_busy(k, part::atomics, 1);
    CHECK(causes_found(k) == std::vector{cause::atomics});
  }
  SUBCASE("compute: idle lanes, then integers, then the number of instructions") {
    set_busy(k, part::issue, 0.9);
    add_line(k, 1).counts.instructions[static_cast<int>(pipe::integer)] = {100, 1600};
    sum_up(k);
    CHECK(causes_found(k) ==
          std::vector{cause::divergence, cause::integer_work, cause::instructions});
    k.lines[0].counts.instructions[static_cast<int>(pipe::integer)] = {40, 1280};
    k.lines[0].counts.instructions[static_cast<int>(pipe::fp32)] = {60, 1920};
    sum_up(k);
    CHECK(causes_found(k) == std::vector{cause::instructions});
    set_busy(k, part::fma, 0.95);
    CHECK(causes_found(k) == std::vector{cause::arithmetic});
  }
  SUBCASE("compute that has time left: stalls come first") {
    add_line(k, 1).stalled.of[static_cast<int>(stall::synchronization)] = 50;
    set_busy(k, part::issue, 0.73);
    CHECK(causes_found(k) == std::vector{cause::barriers, cause::instructions});
    set_busy(k, part::issue, 0.81);
    CHECK(causes_found(k) == std::vector{cause::instructions});
  }
  SUBCASE("memory, with a barrier in every few instructions") {
    set_busy(k, part::l1_pipe, 0.95);
    line_profile& line = add_line(k, 1);
    line.stalled.of[static_cast<int>(stall::synchronization)] = 50;
    line.counts.instructions[static_cast<int>(pipe::barrier)] = {20, 640};
    line.counts.instructions[static_cast<int>(pipe::fp32)] = {80, 2560};
    sum_up(k);
    CHECK(causes_found(k) == std::vector{cause::barriers, cause::l1_traffic});
    k.lines[0].counts.instructions[static_cast<int>(pipe::barrier)] = {2, 64};
    sum_up(k);
    CHECK(causes_found(k) == std::vector{cause::l1_traffic});
  }
  SUBCASE("latency: by the longest stalls, the grid, and the launches") {
    set_busy(k, part::dram, 0.2);
    stall_cycles& stalled = add_line(k, 1).stalled;
    stalled.of[static_cast<int>(stall::synchronization)] = 50;
    stalled.of[static_cast<int>(stall::memory_dependency)] = 40;
    stalled.of[static_cast<int>(stall::not_selected)] = 30;
    stalled.of[static_cast<int>(stall::pipe_busy)] = 5;
    CHECK(causes_found(k) == std::vector{cause::barriers, cause::memory_latency});
    k.grid = {10, 1, 1};
    CHECK(causes_found(k)[0] == cause::small_grid);
    k.launches = 50;
    CHECK(causes_found(k)[0] == cause::launches);
  }
  SUBCASE("latency: a kernel with wgmma and bulk copies has its own causes") {
    set_busy(k, part::dram, 0.2);
    line_profile& line = add_line(k, 1);
    line.stalled.of[static_cast<int>(stall::execution_dependency)] = 50;
    line.stalled.of[static_cast<int>(stall::memory_dependency)] = 40;
    line.counts.global_load = line.counts.bulk_load = sectors(10, 100, 100);
    line.counts.async.operand_wavefronts = 8;
    sum_up(k);
    k.grid = {1056, 1, 1};
    CHECK(causes_found(k) == std::vector{cause::products, cause::bulk_copies});
  }
  SUBCASE("latency: a grid that fills most of the GPU comes after the stalls, or is left out") {
    set_busy(k, part::dram, 0.2);
    add_line(k, 1).stalled.of[static_cast<int>(stall::special_functions)] = 50;
    k.grid = {500, 1, 1};  // of 1056 blocks that fit
    CHECK(causes_found(k) == std::vector{cause::small_grid, cause::special_latency});
    k.grid = {700, 1, 1};
    CHECK(causes_found(k) == std::vector{cause::special_latency, cause::small_grid});
    k.grid = {1024, 1, 1};
    CHECK(causes_found(k) == std::vector{cause::special_latency});
  }
  SUBCASE("latency: a busy pipe is not a lack of issue slots") {
    set_busy(k, part::issue, 0.3);
    add_line(k, 1).stalled.of[static_cast<int>(stall::pipe_busy)] = 50;
    CHECK(causes_found(k) == std::vector{cause::busy_pipe});
    CHECK(figure_of(cause::busy_pipe, {k}) == 100);
  }
  SUBCASE("latency: a busy double-precision pipe is the first cause, even in a small grid") {
    set_busy(k, part::issue, 0.4);
    line_profile& l = add_line(k, 1);
    l.stalled.of[static_cast<int>(stall::memory_dependency)] = 50;
    l.stalled.of[static_cast<int>(stall::pipe_busy)] = 20;
    l.counts.instructions[static_cast<int>(pipe::fp32)] = {60, 1920};
    sum_up(k);
    k.grid = {10, 1, 1};
    CHECK(causes_found(k)[0] == cause::small_grid);
    k.lines[0].counts.instructions[static_cast<int>(pipe::fp64)] = {40, 1280};
    sum_up(k);
    CHECK(causes_found(k)[0] == cause::doubles);
    CHECK(figure_of(cause::doubles, {k}) == 40);
  }
  SUBCASE("latency: many blocks, but most warp slots are empty") {
    set_busy(k, part::dram, 0.2);
    k.timing.active_warps = 31;
    CHECK(causes_found(k) == std::vector{cause::short_blocks});
    k.timing.active_warps = 33;
    CHECK(causes_found(k) == std::vector{cause::memory_latency});
    CHECK(figure_of(cause::short_blocks, {k}) == 1000000);
  }
  SUBCASE("latency, and nothing else is known: there is always an advice") {
    CHECK(causes_found(k) == std::vector{cause::memory_latency});
  }
  SUBCASE("few resident warps, if more warps would help") {
    set_busy(k, part::dram, 0.2);
    k.resident_warps = 16;
    k.timing.experiments_us = {100, 100, 100, 100, 50, 100};
    CHECK(causes_found(k)[0] == cause::occupancy);
  }
}

namespace {

void set_experiment(kernel_profile& k, what_if e, double us) {
  k.timing.experiments_us.resize(experiments, k.timing.us);
  k.timing.experiments_us[static_cast<int>(e)] = us;
}

// A kernel that waits for arithmetic, with `lanes` of 32 lanes active in each instruction of one
// line.
kernel_profile with_lanes(std::uint64_t lanes, std::uint64_t divergent) {
  kernel_profile k = kernel_of(100);
  line_profile& l = add_line(k, 1);
  l.counts.instructions[static_cast<int>(pipe::fp32)] = {1000, 1000 * lanes};
  l.counts.branches = 100;
  l.counts.divergent_branches = divergent;
  l.stalled.of[static_cast<int>(stall::execution_dependency)] = 100;
  sum_up(k);
  return k;
}

}  // namespace

TEST_CASE("divergence comes first if it costs time, whatever the bottleneck") {
  kernel_profile k = with_lanes(6, 50);
  set_experiment(k, what_if::no_divergence, 25);
  k.launches = 50;  // short launches
  CHECK(causes_found(k)[0] == cause::divergence);
  CHECK(causes_of(analyse(k, 100, 132))[0].gain == 4);
  set_experiment(k, what_if::no_divergence, 97);  // most of the time is launch overhead
  CHECK(causes_found(k)[0] == cause::divergence);
  SUBCASE("a cause with a larger gain comes before it") {
    k.lines[0].counts.global_load = sectors(10, 320, 40);
    set_experiment(k, what_if::no_divergence, 50);
    set_experiment(k, what_if::perfect_coalescing, 40);
    sum_up(k);
    CHECK(causes_found(k)[0] == cause::uncoalesced);
    CHECK(causes_found(k)[1] == cause::divergence);
  }
  SUBCASE("a bounds check at which few warps diverge is not divergence") {
    kernel_profile checked = with_lanes(32, 1);
    set_experiment(checked, what_if::no_divergence, 99.9);
    CHECK(causes_found(checked) == std::vector{cause::dependencies});
  }
  SUBCASE("idle lanes whose time memory accesses hide are not divergence") {
    set_busy(k, part::dram, 0.95);
    set_experiment(k, what_if::no_divergence, 97);
    CHECK(causes_found(k)[0] == cause::dram_traffic);
  }
  SUBCASE("without experiments, the number of active lanes decides") {
    k.timing.experiments_us.clear();
    CHECK(causes_found(k)[0] == cause::divergence);
  }
}

TEST_CASE("local memory does not concern coalescing") {
  kernel_profile k = kernel_of(100);
  k.local_bytes = 256;
  add_line(k, 1).counts.local_load = sectors(100, 3200, 400);
  add_line(k, 2).counts.global_load = sectors(100, 400, 400);
  sum_up(k);
  set_experiment(k, what_if::no_local_memory, 50);
  set_experiment(k, what_if::perfect_coalescing, 80);
  CHECK(causes_found(k)[0] == cause::local_arrays);
  CHECK(!names(k, cause::uncoalesced));
  CHECK(figure_of(cause::uncoalesced, {k}) == 0);
  CHECK(figure_of(cause::local_arrays, {k}) == 3200);
  k.lines[0].counts.local_load = sectors(100, 400, 400);  // all lanes use the same index
  sum_up(k);
  CHECK(causes_found(k)[0] == cause::local_arrays);
  k.lines[1].counts.global_load = sectors(100, 40000, 40000);  // hardly any traffic is local
  sum_up(k);
  CHECK(!names(k, cause::local_arrays));
}

TEST_CASE("spilled registers are named although accesses to them are not counted") {
  kernel_profile k = kernel_of(100);
  set_busy(k, part::issue, 0.9);
  k.spill_bytes = 840;
  CHECK(causes_found(k) == std::vector{cause::spills, cause::instructions});
  CHECK(figure_of(cause::spills, {k}) == 840.0 * 1000000 * 256);
  k.spill_bytes = 24;  // may be outside every loop
  CHECK(causes_found(k) == std::vector{cause::instructions, cause::spills});
  k.spill_bytes = 8;
  CHECK(causes_found(k) == std::vector{cause::instructions});
  k.local_bytes = 840;  // an array, whose accesses are counted like any others
  add_line(k, 1).counts.local_load = sectors(100, 3200, 400);
  sum_up(k);
  CHECK(causes_found(k) == std::vector{cause::local_arrays, cause::instructions});
}

TEST_CASE("lanes of an atomic with the same address can combine their values") {
  kernel_profile k = kernel_of(100);
  line_profile& l = add_line(k, 1);
  l.counts.global_atomic = sectors(100, 3200, 100);
  l.counts.global_atomic.repeated_sectors = 3100;
  sum_up(k);
  set_busy(k, part::atomics, 0.9);
  set_experiment(k, what_if::perfect_coalescing, 100);
  CHECK(causes_found(k) == std::vector{cause::same_address});
  k.timing.experiments_us.clear();
  set_busy(k, part::atomics, 0);  // ncu does not count this unit
  CHECK(causes_found(k)[0] == cause::same_address);
  k.lines[0].counts.global_atomic = sectors(100, 3200, 400);  // each lane at its own address
  sum_up(k);
  CHECK(causes_found(k)[0] == cause::uncoalesced);
  k.lines[0].counts.global_atomic = {};
  k.lines[0].counts.shared_atomic = wavefronts(100, 3200, 100);
  k.lines[0].counts.shared_atomic.repeated_wavefronts = 3100;
  sum_up(k);
  CHECK(causes_found(k)[0] == cause::same_address);
}

TEST_CASE("launch shape: a cause that leaves lanes or multiprocessors idle comes first") {
  kernel_profile k = kernel_of(100);
  add_line(k, 1).stalled.of[static_cast<int>(stall::memory_dependency)] = 50;
  const auto first_of = [&](unsigned blocks, extent block) {
    k.grid = {blocks, 1, 1};
    k.block = block;
    return causes_found(k)[0];
  };
  const auto names_small_grid = [&] {
    return names(k, cause::small_grid) || names(k, cause::few_blocks);
  };
  CHECK(first_of(1, {1, 1, 1}) == cause::one_thread);
  CHECK(!names_small_grid());
  CHECK(first_of(100000, {1, 1, 1}) == cause::partial_warps);
  CHECK(first_of(100000, {48, 1, 1}) == cause::partial_warps);
  CHECK(first_of(100000, {16, 3, 1}) == cause::partial_warps);
  CHECK(first_of(100000, {16, 2, 1}) == cause::memory_latency);
  CHECK(first_of(100000, {1000, 1, 1}) == cause::memory_latency);  // nearly full
  CHECK(first_of(1, {1024, 1, 1}) == cause::one_block);
  CHECK(!names_small_grid());
  CHECK(first_of(20, {1024, 1, 1}) == cause::small_grid);
  CHECK(first_of(20, {32, 1, 1}) == cause::few_blocks);
  set_busy(k, part::issue, 0.9);  // of the only multiprocessor that works
  CHECK(first_of(1, {1024, 1, 1}) == cause::one_block);
  CHECK(first_of(20, {1024, 1, 1}) == cause::small_grid);
}

TEST_CASE("blocks that write nothing are the first cause if they are most of the grid") {
  kernel_profile k = kernel_of(100);
  set_busy(k, part::dram, 0.95);
  const auto all = static_cast<double>(k.launches * volume(k.grid));
  k.timing.idle_blocks = 0.75 * all;
  CHECK(causes_found(k) == std::vector{cause::idle_blocks, cause::dram_traffic});
  k.timing.idle_blocks = 0.25 * all;
  CHECK(causes_found(k) == std::vector{cause::dram_traffic, cause::idle_blocks});
  k.timing.idle_blocks = 0.15 * all;
  CHECK(causes_found(k) == std::vector{cause::dram_traffic});
}

TEST_CASE("idle lanes in partly filled warps are not divergence") {
  kernel_profile k = with_lanes(24, 0);
  k.block = {48, 1, 1};
  set_busy(k, part::issue, 0.9);
  CHECK(causes_found(k) == std::vector{cause::partial_warps, cause::instructions});
}

TEST_CASE("special functions have their own stall, or share it with shared memory") {
  kernel_profile k = kernel_of(100);
  stall_cycles& stalled = add_line(k, 1).stalled;
  stalled.of[static_cast<int>(stall::special_functions)] = 50;
  CHECK(causes_found(k) == std::vector{cause::special_latency});
  CHECK(figure_of(cause::special_latency, {k}) == 100);
  stalled = {};
  stalled.of[static_cast<int>(stall::shared_dependency)] = 50;
  CHECK(causes_found(k) == std::vector{cause::shared_latency});
  k.timing.special_in_shared = true;
  CHECK(causes_found(k) == std::vector{cause::shared_or_special_latency});
  CHECK(figure_of(cause::shared_or_special_latency, {k}) == 100);
}

TEST_CASE("a figure covers the whole launch, and all kernels") {
  kernel_profile k = with_conflicts(100, 300, 80);
  CHECK(figure_of(cause::bank_conflicts, {k}) == 300);
  k.timing.counted = 0.5;
  CHECK(figure_of(cause::bank_conflicts, {k, k}) == 1200);
  CHECK(figure_of(cause::uncoalesced, {k}) == 0);
  CHECK(figure_of(cause::l1_traffic, {k}) == doctest::Approx(80));
  CHECK(figure_of(cause::launches, {k, k, k}) == 3);
}

TEST_CASE("a step fixes a cause if it clearly improves its figure and is faster") {
  const kernel_profile before = with_conflicts(100, 300, 80);
  CHECK(fixes(cause::bank_conflicts, {before}, {with_conflicts(90, 0, 90)}));
  CHECK(!fixes(cause::bank_conflicts, {before}, {with_conflicts(90, 290, 80)}));
  CHECK(!fixes(cause::bank_conflicts, {before}, {with_conflicts(100, 0, 100)}));
  CHECK(!fixes(cause::bank_conflicts, {before}, {}));
}

TEST_CASE("the steps after a given step, and after a student's file") {
  const lab l = four_steps();
  const auto all = [](const step&) { return true; };
  CHECK(steps_after(l, &l.steps[2], all) == std::vector{&l.steps[3], &l.steps[4]});
  CHECK(steps_after(l, &l.steps[4], all).empty());
  CHECK(steps_after(l, nullptr, all) ==
        std::vector{&l.steps[2], &l.steps[3], &l.steps[4]});  // after the skeleton
  CHECK(steps_after(l, nullptr, [](const step& s) { return s.name == "03_c"; }) ==
        std::vector{&l.steps[3]});
}

TEST_CASE("no step that did not help comes next; after it comes what follows the step it is over") {
  lab changed = four_steps();
  changed.did_not_help = {changed.steps.back().name};
  changed.steps.back().over = changed.steps[1].name;
  const lab l = changed;
  const auto all = [](const step&) { return true; };
  CHECK(steps_after(l, &l.steps[2], all) == std::vector{&l.steps[3]});
  CHECK(steps_after(l, &l.steps[3], all).empty());
  CHECK(steps_after(l, &l.steps[4], all) == std::vector{&l.steps[2], &l.steps[3]});
  CHECK(steps_after(l, nullptr, all) == std::vector{&l.steps[2], &l.steps[3]});
}

TEST_CASE("the suggested step is the first that fixes the first cause") {
  const lab l = four_steps();
  const std::vector<const step*> candidates = {&l.steps[2], &l.steps[3], &l.steps[4]};
  const std::vector<kernel_profile> before = {with_conflicts(100, 300, 80)};
  const std::vector<found_cause> found = causes_of(analyse(before[0], 100, 132));
  std::map<std::string, std::vector<kernel_profile>> calls = {
      {"02_b", {with_conflicts(90, 300, 80)}},
      {"03_c", {with_conflicts(80, 0, 80)}},
      {"04_d", {with_conflicts(70, 0, 70)}}};
  std::vector<std::string> asked;
  const auto model = [&](const step& s) {
    asked.push_back(s.name);
    return calls[s.name];
  };
  const auto named = suggest(candidates, found, before, model);
  REQUIRE(named);
  CHECK(named->next == &l.steps[2]);
  CHECK(time_us(named->next_call) == 90);
  CHECK(named->fixing == &l.steps[3]);
  CHECK(named->fixed == cause::bank_conflicts);
  CHECK(time_us(named->fixing_call) == 80);
  CHECK(asked == std::vector<std::string>{"02_b", "03_c"});

  // No step has fewer conflicts, so the second cause counts, which is the traffic at L1.
  calls["03_c"] = calls["04_d"] = {with_conflicts(85, 300, 80)};
  const auto second = suggest(candidates, found, before, model);
  REQUIRE(second);
  CHECK(second->fixing == &l.steps[3]);
  CHECK(second->fixed == cause::l1_traffic);

  // If no step has a time, the next step is suggested without one.
  calls.clear();
  const auto next = suggest(candidates, found, before, model);
  REQUIRE(next);
  CHECK(next->next == &l.steps[2]);
  CHECK(next->fixing == nullptr);
  CHECK(!suggest({}, found, before, model));
}
