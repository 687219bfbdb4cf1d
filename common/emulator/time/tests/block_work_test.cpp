// Tests the counts of each block's work while blocks are interleaved, and launches in which one
// block does all the work.
#include "common/emulator/time/block_work.hpp"

#include <doctest/doctest.h>

#include "common/emulator/time/tests/driven_timer.hpp"

namespace stepwise::emulator {
namespace {

TEST_CASE("each block has its own counts, even if blocks are interleaved") {
  block_work_counter each;
  each.begin_launch(2);
  each.switch_to(5);
  each.executed(0, 10);
  each.moved(4, 1);
  each.switch_to(6);
  each.executed(1, 3);
  each.switch_to(5);
  each.executed(0, 10);
  each.executed(1, 15);
  each.end_block(5, true);
  each.switch_to(6);
  each.moved(100, 0);
  each.end_block(6, false);
  REQUIRE(each.kept(5) != nullptr);
  CHECK(each.kept(5)->longest_warp == 20);
  CHECK(each.kept(5)->sectors == 4);
  CHECK(each.kept(6) == nullptr);
  CHECK(each.most().longest_warp == 20);
  CHECK(each.most().sectors == 100);
  CHECK(each.most().shared_wavefronts == 1);
  each.begin_launch(2);
  CHECK(each.most().longest_warp == 0);
  CHECK(each.kept(5) == nullptr);
}

// The modelled time of a launch in which block b does `rounds_of(b)` iterations of `sectors_of(b)`
// sectors each.
template <class Rounds, class Sectors>
launch_time uneven(std::uint64_t blocks, Rounds rounds_of, Sectors sectors_of) {
  const kernel k(sums);
  timer t(model(), {.seed = 7});
  t.begin(k.shape(blocks));
  const auto length = static_cast<std::uint32_t>(t.code().at.size());
  for (std::uint64_t b = 0; b < blocks; ++b) {
    t.begin_block(b);
    t.switch_to(b);
    for (int iteration = 0; iteration < rounds_of(b); ++iteration)
      for (std::uint32_t w = 0; w < warps; ++w) {
        t.moved(sectors_of(b), 0);
        t.executed(w, 0, length);
      }
    t.end_block(b);
  }
  return t.end({});
}

TEST_CASE("a block with the work of all others takes longer than the launch's modelled time") {
  const std::uint64_t blocks = 16 * wave, heavy = 7 * wave + 3;
  const auto no_sectors = [](std::uint64_t) { return 0U; };
  const auto even = uneven(
      blocks, [](std::uint64_t) { return 4; }, no_sectors);
  CHECK(even.longest_block_us > 0);
  CHECK(even.longest_block_us < even.us);
  const auto twice = uneven(
      blocks, [&](std::uint64_t b) { return b == heavy ? 8 : 4; }, no_sectors);
  CHECK(twice.longest_block_us < twice.us);
  const auto all = uneven(
      blocks, [&](std::uint64_t b) { return b == heavy ? 4000 : 4; }, no_sectors);
  CHECK(all.us == doctest::Approx(even.us).epsilon(0.01));  // that block is not recorded
  CHECK(all.longest_block_us > 20 * all.us);
  CHECK(all.likeness > 0.6);
}

TEST_CASE("few instructions with many sectors each count as work, too") {
  const std::uint64_t blocks = 16 * wave, heavy = 7 * wave + 3;
  const auto rounds = [](std::uint64_t) { return 4; };
  const auto time =
      uneven(blocks, rounds, [&](std::uint64_t b) { return b == heavy ? 60000U : 1U; });
  CHECK(time.longest_block_us > 20 * time.us);
}

TEST_CASE("the work of one warp takes as long as that warp") {
  const kernel k(sums);
  const auto us_of = [&](bool by_one_warp) {
    timer t(model(), {.seed = 7});
    t.begin(k.shape(16 * wave));
    const auto length = static_cast<std::uint32_t>(t.code().at.size());
    for (std::uint64_t b = 0; b < 16 * wave; ++b) {
      t.begin_block(b);
      for (unsigned iteration = 0; iteration < 4 * warps; ++iteration)
        t.executed(by_one_warp && b == 7 * wave + 3 ? 0 : iteration % warps, 0, length);
      t.end_block(b);
    }
    return t.end({}).longest_block_us;
  };
  CHECK(us_of(true) == doctest::Approx(warps * us_of(false)).epsilon(0.05));
}

TEST_CASE("recorded blocks that hit the caches do not represent blocks that read memory") {
  const kernel k(looped("ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;"));
  const recorded_access a = first_access_of(k).access;
  const auto likeness = [&](double sectors_of_others) {
    site_traffic seen;
    seen.sectors = static_cast<double>(8 * wave * warps * 20 * 4);
    seen.l2_sectors = seen.dram_sectors = seen.sectors;
    site_traffic others;  // at a site that no recorded block reaches
    others.sectors = others.l2_sectors = others.dram_sectors = sectors_of_others * seen.sectors;
    timer t(model(), {.seed = 7});
    return drive(t, k, 8 * wave, 20, {.each = {a}, .traffic = {seen, others}}).time.likeness;
  };
  CHECK(likeness(0) > 0.95);
  CHECK(likeness(3) < 0.4);
}

}  // namespace
}  // namespace stepwise::emulator
