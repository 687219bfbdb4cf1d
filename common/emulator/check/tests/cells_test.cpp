// Who touched a cell, and which bytes were written.
#include "common/emulator/check/cells.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "common/emulator/check/written.hpp"

using namespace stepwise::emulator;

namespace {

// A warp of a launch of blocks of two warps, which began at tick 10; its block's barrier was at 20.
accessor warp(std::uint32_t number, std::uint32_t now) {
  accessor a{};
  a.settled = a.launch = 10;
  a.block_settled = 20;
  a.first_warp = number / 2 * 2;
  a.block_warps = 2;
  a.now = now;
  a.warp = number;
  a.site = number + 100;
  return a;
}

}  // namespace

TEST_CASE("a row that another warp wrote needs a closer look until a barrier") {
  cell_space space(4096, 4);
  const cells& c = space.all();
  CHECK(store_row(c, 0, 1, 0, 32, warp(0, 25)));
  CHECK(c.writer[7] == 7);
  CHECK(c.write_site[31] == 100);
  CHECK_FALSE(load_row(c, 0, 1, 0, 32, warp(1, 25)));
  CHECK(c.read_time[0] == 0);                          // nothing was changed
  CHECK(load_row(c, 0, 1, 0, 32, warp(0, 25)));        // its own lanes
  CHECK_FALSE(load_row(c, 1, 1, 0, 31, warp(0, 25)));  // each its neighbour's
  accessor later = warp(1, 30);
  later.block_settled = 30;
  CHECK(load_row(c, 0, 1, 0, 32, later));
  accessor other_block = warp(2, 30);
  other_block.block_settled = 30;
  CHECK_FALSE(load_row(c, 0, 1, 0, 32, other_block));
}

TEST_CASE("the same thread of an earlier launch is another thread") {
  cell_space space(4096, 4);
  const cells& c = space.all();
  accessor before = warp(0, 5);
  before.launch = before.settled = 1;
  CHECK(store_row(c, 0, 1, 0, 32, before));
  accessor unordered = warp(0, 25);
  unordered.settled = 3;  // of another stream: what came from 3 on is not known
  CHECK_FALSE(store_row(c, 0, 1, 0, 32, unordered));
  CHECK_FALSE(load_row(c, 0, 1, 0, 32, unordered));
  CHECK(store_row(c, 0, 1, 0, 32, warp(0, 25)));
}

TEST_CASE("two reading warps are remembered") {
  cell_space space(4096, 4);
  const cells& c = space.all();
  CHECK(load_same(c, 5, 1, 0xffffffff, warp(0, 25)));
  CHECK(load_same(c, 5, 1, 0x3, warp(1, 26)));
  CHECK(c.reader[5] == 1);
  CHECK(c.read_lanes[5] == 3);
  CHECK(c.older_reader[5] == 0);
  CHECK(c.older_lanes[5] == 0xffffffff);
  CHECK_FALSE(store_lane(c, 5, 1, 0, warp(1, 26)));  // the older reader speaks against it
  CHECK(store_lane(c, 6, 1, 0, warp(1, 26)));
}

TEST_CASE("wide accesses belong to the lane that makes them") {
  cell_space space(4096, 4);
  const cells& c = space.all();
  CHECK(store_row(c, 0, 4, 0, 32, warp(0, 25)));
  CHECK(c.writer[0] == 0);
  CHECK(c.writer[3] == 0);
  CHECK(c.writer[4] == 1);
  CHECK(c.writer[127] == 31);
}

TEST_CASE("written bytes agree with a list of them") {
  constexpr std::uint64_t bytes = 1000;
  written_bytes w(bytes);
  std::vector<bool> list(bytes, false);
  std::mt19937 random(3);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t at = below(bytes), n = below(std::min<std::uint64_t>(bytes - at, 200)) + 1;
    switch (below(3)) {
      case 0:
        w.mark(at, n);
        std::fill_n(list.begin() + static_cast<long>(at), n, true);
        break;
      case 1:
        w.clear(at, n);
        std::fill_n(list.begin() + static_cast<long>(at), n, false);
        break;
      default: {
        const std::uint64_t half = bytes / 2, from = at % half, m = std::min(n, half - from);
        w.copy(half + from, from, m);
        std::copy_n(list.begin() + static_cast<long>(from), m,
                    list.begin() + static_cast<long>(half + from));
        break;
      }
    }
    const std::uint64_t look = below(bytes),
                        length = below(std::min<std::uint64_t>(64, bytes - look)) + 1;
    bool all = true;
    std::uint64_t which = 0;
    for (std::uint64_t k = 0; k < length; ++k) {
      all = all && list[look + k];
      which |= std::uint64_t{list[look + k]} << k;
    }
    CHECK(w.all(look, length) == all);
    CHECK(w.which(look, static_cast<unsigned>(length)) == which);
  }
}
