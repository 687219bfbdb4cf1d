// What is advised, and which step is named, for profiles that are written down here.
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

// Conflicts at a line, and what the model says of them.
kernel_profile with_conflicts(double us, std::uint64_t waste, double without_us) {
  kernel_profile k = kernel_of(us);
  set_busy(k, part::port, 0.8);
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

TEST_CASE("what an experiment takes away comes first, by its gain") {
  kernel_profile k = with_conflicts(100, 300, 80);
  CHECK(causes_found(k) == std::vector{cause::bank_conflicts, cause::port_traffic});
  add_line(k, 2).counts.global_load = sectors(100, 3200, 400);
  sum_up(k);
  k.timing.experiments_us[static_cast<int>(what_if::perfect_coalescing)] = 50;
  CHECK(causes_found(k) ==
        std::vector{cause::uncoalesced, cause::bank_conflicts, cause::port_traffic});
  CHECK(causes_of(analyse(k, 100, 132))[0].gain == 2);
}

TEST_CASE("without experiments, the line that wastes most has the first cause") {
  kernel_profile k = with_conflicts(100, 900, 80);
  add_line(k, 2).counts.global_store = sectors(10, 10, 1);
  sum_up(k);
  k.timing.experiments_us.clear();
  CHECK(causes_found(k)[0] == cause::bank_conflicts);
  add_line(k, 3).counts.global_load = sectors(1000, 32000, 4000);
  sum_up(k);
  CHECK(causes_found(k)[0] == cause::uncoalesced);
}

TEST_CASE("a small gain outside of what limits comes last, a clear one first") {
  kernel_profile k = with_conflicts(100, 300, 96);
  set_busy(k, part::port, 0.2);
  set_busy(k, part::issue, 0.9);
  CHECK(causes_found(k) == std::vector{cause::instructions, cause::bank_conflicts});
  k.timing.experiments_us[static_cast<int>(what_if::no_bank_conflicts)] = 60;
  CHECK(causes_found(k) == std::vector{cause::bank_conflicts, cause::instructions});
}

TEST_CASE("waste that costs no time is no cause") {
  CHECK(causes_found(with_conflicts(100, 300, 99.5)) == std::vector{cause::port_traffic});
}

TEST_CASE("each branch has causes of its own") {
  kernel_profile k = kernel_of(100);
  SUBCASE("memory: by the busiest part") {
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
  SUBCASE("latency: by the longest stalls, the grid, the launches") {
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
  SUBCASE("latency: many blocks, but most slots are empty") {
    set_busy(k, part::dram, 0.2);
    k.timing.active_warps = 31;
    CHECK(causes_found(k) == std::vector{cause::short_blocks});
    k.timing.active_warps = 33;
    CHECK(causes_found(k) == std::vector{cause::memory_latency});
    CHECK(figure_of(cause::short_blocks, {k}) == 1000000);
  }
  SUBCASE("latency with nothing known: there is always something to say") {
    CHECK(causes_found(k) == std::vector{cause::memory_latency});
  }
  SUBCASE("few resident warps, if more would help") {
    set_busy(k, part::dram, 0.2);
    k.resident_warps = 16;
    k.timing.experiments_us = {100, 100, 100, 100, 50, 100};
    CHECK(causes_found(k)[0] == cause::occupancy);
  }
}

TEST_CASE("a figure is that of the whole launch, and of all kernels") {
  kernel_profile k = with_conflicts(100, 300, 80);
  CHECK(figure_of(cause::bank_conflicts, {k}) == 300);
  k.timing.counted = 0.5;
  CHECK(figure_of(cause::bank_conflicts, {k, k}) == 1200);
  CHECK(figure_of(cause::uncoalesced, {k}) == 0);
  CHECK(figure_of(cause::port_traffic, {k}) == doctest::Approx(80));
  CHECK(figure_of(cause::launches, {k, k, k}) == 3);
}

TEST_CASE("a step mends what it makes clearly better, if it is faster") {
  const kernel_profile before = with_conflicts(100, 300, 80);
  CHECK(mends(cause::bank_conflicts, {before}, {with_conflicts(90, 0, 90)}));
  CHECK(!mends(cause::bank_conflicts, {before}, {with_conflicts(90, 290, 80)}));
  CHECK(!mends(cause::bank_conflicts, {before}, {with_conflicts(100, 0, 100)}));
  CHECK(!mends(cause::bank_conflicts, {before}, {}));
}

TEST_CASE("the steps after a step, and after a file") {
  const lab l = four_steps();
  const auto all = [](const step&) { return true; };
  CHECK(steps_after(l, &l.steps[2], all) == std::vector{&l.steps[3], &l.steps[4]});
  CHECK(steps_after(l, &l.steps[4], all).empty());
  CHECK(steps_after(l, nullptr, all) ==
        std::vector{&l.steps[2], &l.steps[3], &l.steps[4]});  // behind the skeleton
  CHECK(steps_after(l, nullptr, [](const step& s) { return s.name == "03_c"; }) ==
        std::vector{&l.steps[3]});
}

TEST_CASE("the step that is named is the first that mends the foremost cause") {
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
  CHECK(named->mending == &l.steps[3]);
  CHECK(named->mended == cause::bank_conflicts);
  CHECK(time_us(named->mending_call) == 80);
  CHECK(asked == std::vector<std::string>{"02_b", "03_c"});

  // None has fewer conflicts: the second cause, the port's traffic, counts.
  calls["03_c"] = calls["04_d"] = {with_conflicts(85, 300, 80)};
  const auto second = suggest(candidates, found, before, model);
  REQUIRE(second);
  CHECK(second->mending == &l.steps[3]);
  CHECK(second->mended == cause::port_traffic);

  // Nobody has a time: the next step all the same.
  calls.clear();
  const auto next = suggest(candidates, found, before, model);
  REQUIRE(next);
  CHECK(next->next == &l.steps[2]);
  CHECK(next->mending == nullptr);
  CHECK(!suggest({}, found, before, model));
}
