// Selects the blocks of a launch that run when a sample is checked. The tests report to a sample
// what blocks do, without running any blocks.
#include "common/emulator/block_sample.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "common/emulator/run/block.hpp"
#include "common/emulator/time/tests/driven_timer.hpp"

namespace stepwise::emulator {
namespace {

struct sampled {
  std::vector<std::uint64_t> ran;
  std::int64_t instructions = 0;
};

// The warps of each block execute `instructions` together, unless the sample ends the block.
sampled sample(block_sample& s, kernel& k, unsigned blocks, std::int64_t instructions) {
  k.config.grid = {blocks, 1, 1};
  s.begin_launch(k.shape(blocks).launch);
  sampled result;
  for (block b; b.index < blocks; ++b.index) {
    if (!s.wants(b.index)) continue;
    result.ran.push_back(b.index);
    s.switch_to(b);
    for (std::int64_t done = 0, now = 0; done < instructions; done += now) {
      now = std::min(s.slice(), instructions - done);
      if (now == 0) break;
      s.executed(0, 0, static_cast<std::uint32_t>(now), ~0U);
      result.instructions += now;
    }
  }
  return result;
}

constexpr unsigned many = 100'000;

}  // namespace

TEST_CASE("a large launch: the first and last block, and consecutive blocks that the seed draws") {
  kernel k(looped_sums);
  block_sample one(1), same(1), other(2);
  const auto ran = sample(one, k, many, 1000).ran;
  REQUIRE(ran.size() == 18);
  CHECK(ran.front() == 0);
  CHECK(ran.back() == many - 1);
  CHECK(ran[16] - ran[1] == 15);
  CHECK(sample(same, k, many, 1000).ran == ran);
  CHECK(sample(other, k, many, 1000).ran != ran);
  CHECK(sample(one, k, many, 1000).ran != ran);  // another launch draws other blocks
  CHECK(sample(one, k, 10, 1000).ran.size() == 10);
}

TEST_CASE("few blocks with much work run, and they end early") {
  kernel k(looped_sums);
  block_sample s(1);
  const auto some = sample(s, k, many, 100'000);
  CHECK(some.ran.size() < 10);
  CHECK(some.ran.back() == many - 1);
  const auto one = sample(s, k, 1, 1'000'000'000);
  CHECK(one.ran.size() == 1);
  CHECK(one.instructions < 1'000'000);
}

TEST_CASE("a block that touches many pages of memory ends early") {
  kernel k(looped_sums);
  block_sample s(1);
  k.config.grid = {1, 1, 1};
  s.begin_launch(k.shape(1).launch);
  std::uint64_t address[32];
  access_event e{};
  e.space = memory_space::global;
  e.active = ~0U;
  e.address = address;
  const auto touches = [&](std::uint64_t from, std::uint64_t stride) {
    for (std::uint64_t lane = 0; lane < 32; ++lane) address[lane] = from + lane * stride;
    CHECK(s.access(e) == ~0U);
  };
  for (std::uint64_t n = 0; n < 10'000; ++n) touches(0x10000 + 128 * (n % 1000), 4);
  CHECK(s.slice() > 0);
  for (std::uint64_t n = 0; n < 100; ++n) touches(0x10000 + 4 * n, 16384);
  CHECK(s.slice() > 0);  // the same pages again
  for (std::uint64_t n = 0; n < 100; ++n) touches((n + 1) << 24, 16384);
  CHECK(s.slice() == 0);
}

TEST_CASE("a small launch runs completely") {
  kernel small(sums);
  block_sample s(1);
  CHECK(sample(s, small, 200, 50).ran.size() == 200);
  CHECK(sample(s, small, many, 50).ran.size() < 100);
}

TEST_CASE("blocks that may wait for each other run from block 0 on, until they have done enough") {
  kernel waits(looped_sums + "atom.global.add.u32 %r1, [%rd1], 1;\n");
  kernel cooperative(looped_sums);
  cooperative.config.cooperative = true;
  block_sample s(1);
  for (kernel* k : {&waits, &cooperative}) {
    CHECK(sample(s, *k, 10'000, 1000).ran.size() == 10'000);
    const auto first = sample(s, *k, many, 1000);
    CHECK(first.ran.size() == 50'000);
    CHECK(first.ran.back() == 49'999);
    CHECK(s.slice() == 0);  // the blocks that wait for a block that does not run end, too
    k->config.cluster = {2, 1, 1};
    CHECK(sample(s, *k, many, 1000).ran.size() == many);
  }
}

}  // namespace stepwise::emulator
