// Which threads accessed a cell, and which bytes were written.
#include "common/emulator/check/cells.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "common/emulator/check/written.hpp"
#include "common/testing/skip_case.hpp"

using namespace stepwise::emulator;

namespace {

// A warp in a launch that began at tick 10, with two warps per block. Its block's barrier was at
// tick 20.
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
  CHECK(store_row(c, 0, 1, 1, 32, warp(0, 25)));
  CHECK(c[7].writer() == 7);
  CHECK(c[31].write_site() == 100);
  CHECK_FALSE(load_row(c, 0, 1, 1, 32, warp(1, 25)));
  CHECK(c[0].read_time() == 0);                        // nothing has changed
  CHECK(load_row(c, 0, 1, 1, 32, warp(0, 25)));        // its own lanes' words
  CHECK_FALSE(load_row(c, 1, 1, 1, 31, warp(0, 25)));  // each reads its neighbour's word
  accessor later = warp(1, 30);
  later.block_settled = 30;
  CHECK(load_row(c, 0, 1, 1, 32, later));
  accessor other_block = warp(2, 30);
  other_block.block_settled = 30;
  CHECK_FALSE(load_row(c, 0, 1, 1, 32, other_block));
}

TEST_CASE("loads of a group that two blocks have read are recorded again after a store") {
  cell_space space(4096, 4);
  const cells& c = space.all();
  const auto reader = [](std::uint32_t number, std::uint32_t now) {
    accessor a = warp(number, now);
    a.two_readers = a.launch;
    return a;
  };
  // A load of fifteen cells stores the group in full. The sixteenth has no reader yet.
  for (std::uint32_t now = 30; now < 70; ++now)
    CHECK(load_row(c, 0, 1, 1, 15, reader(now % 2 == 0 ? 0 : 2, now)));
  CHECK(c[3].read_time() == 69);
  for (std::uint32_t now = 70; now < 110; ++now)
    CHECK(load_row(c, 0, 1, 1, 16, reader(now % 2 == 0 ? 0 : 2, now)));
  const std::uint32_t last = c[3].read_time();
  CHECK(last < 109);
  CHECK(c[3].older_time() != 0);
  const std::uint64_t at[32] = {3};
  CHECK(load_lanes(c, at, 1, 1, reader(4, 110)) == 0);
  CHECK(c[3].read_time() == last);
  // The load is recorded again by an accessor without two_readers, and in another launch.
  CHECK(load_lanes(c, at, 1, 1, warp(4, 111)) == 0);
  CHECK(c[3].read_time() == 111);
  accessor later = reader(4, 130);
  later.settled = later.launch = later.two_readers = 120;
  CHECK(load_lanes(c, at, 1, 1, later) == 0);
  CHECK(c[3].read_time() == 130);
  // A store by any of these blocks needs a closer look. The next load is then recorded.
  CHECK(store_lanes(c, at, 1, 1, reader(0, 115)) == 1);
  CHECK_FALSE(store_row(c, 0, 1, 1, 16, reader(2, 115)));
  c.forget_two_readers(3);
  CHECK(load_lanes(c, at, 1, 1, reader(4, 116)) == 0);
  CHECK(c[3].read_time() == 116);
}

TEST_CASE("lanes of a warp that met know each other's accesses") {
  cell_space space(4096, 4);
  const cells& c = space.all();
  CHECK(store_row(c, 0, 1, 1, 32, warp(0, 25)));
  accessor a = warp(0, 30);
  CHECK_FALSE(load_row(c, 1, 1, 1, 31, a));  // each lane reads its neighbour's word
  a.met = 26;
  CHECK(load_row(c, 1, 1, 1, 31, a));
  CHECK_FALSE(store_row(c, 0, 1, 1, 31, a));  // since the lanes met, its neighbour has read it
  a.now = a.met = 31;
  CHECK(store_row(c, 0, 1, 1, 31, a));
  accessor other = warp(1, 40);
  other.met = 40;
  CHECK_FALSE(load_row(c, 0, 1, 1, 32, other));
}

TEST_CASE("a barrier does not finish asynchronous copies") {
  cell_space space(4096, 4);
  const cells& c = space.all();
  CHECK(store_row(c, 0, 1, 1, 32, warp(0, 25)));
  accessor later = warp(1, 30);
  later.block_settled = 30;
  later.copies_known = 25;
  CHECK_FALSE(load_row(c, 0, 1, 1, 32, later));
  later.copies_known = 26;
  CHECK(load_row(c, 0, 1, 1, 32, later));
  accessor own = warp(0, 30);
  own.own_copies_known = 25;
  CHECK_FALSE(load_row(c, 0, 1, 1, 32, own));
  own.own_copies_known = 26;
  CHECK(load_row(c, 0, 1, 1, 32, own));
}

TEST_CASE("the same thread of an earlier launch is another thread") {
  cell_space space(4096, 4);
  const cells& c = space.all();
  accessor before = warp(0, 5);
  before.launch = before.settled = 1;
  CHECK(store_row(c, 0, 1, 1, 32, before));
  accessor unordered = warp(0, 25);
  unordered.settled = 3;  // another stream: work from tick 3 on is not known
  CHECK_FALSE(store_row(c, 0, 1, 1, 32, unordered));
  CHECK_FALSE(load_row(c, 0, 1, 1, 32, unordered));
  CHECK(store_row(c, 0, 1, 1, 32, warp(0, 25)));
}

TEST_CASE("the last two reading warps are remembered") {
  cell_space space(4096, 4);
  const cells& c = space.all();
  CHECK(load_row(c, 5, 1, 0xffffffff, 1, warp(0, 25)));
  CHECK(load_row(c, 5, 1, 0x3, 1, warp(1, 26)));
  CHECK(c[5].reader() == 1);
  CHECK(c[5].read_lanes() == 3);
  CHECK(c[5].older_reader() == 0);
  CHECK(c[5].older_lanes() == 0xffffffff);
  CHECK_FALSE(store_row(c, 5, 1, 1, 1, warp(1, 26)));  // the older reader makes it a race
  CHECK(store_row(c, 6, 1, 1, 1, warp(1, 26)));
}

TEST_CASE("wide accesses belong to the lane that makes them") {
  cell_space space(4096, 4);
  const cells& c = space.all();
  CHECK(store_row(c, 0, 4, 1, 32, warp(0, 25)));
  CHECK(c[0].writer() == 0);
  CHECK(c[3].writer() == 0);
  CHECK(c[4].writer() == 1);
  CHECK(c[127].writer() == 31);
}

namespace {

// All fields of a cell.
std::array<std::uint32_t, 11> all_of(const cell& c) {
  return {c.write_time(),   c.writer(),      c.write_site(), c.read_time(),
          c.reader(),       c.read_lanes(),  c.read_site(),  c.older_time(),
          c.older_reader(), c.older_lanes(), c.older_site()};
}

// Random accesses of the warps of two blocks, partly ordered, with a new launch from time to time.
struct random_accesses {
  std::mt19937 random{11};
  std::uint32_t now = 30, barrier = 20, launch = 10;

  std::uint32_t below(std::uint32_t n) { return random() % n; }
  accessor next() {
    if (below(4) == 0) ++now;
    if (below(20) == 0) barrier = now++;
    if (below(60) == 0) launch = barrier = ++now;
    accessor a = warp(below(4), now);
    a.launch = a.settled = launch;
    a.block_settled = below(3) == 0 ? barrier : launch;
    a.site = below(7);
    if (below(3) == 0) a.met = std::min(launch + below(10), now);
    return a;
  }
};

}  // namespace

TEST_CASE("rows remember the same as single lanes would") {
  cell_space by_rows(4096, 4), by_lanes(4096, 4);
  const cells &rows = by_rows.all(), &lanes = by_lanes.all();
  random_accesses r;
  constexpr std::uint32_t cells_used = 160;
  unsigned settled = 0, open_rows = 0, summaries = 0;
  for (int round = 0; round < 20000; ++round) {
    const accessor a = r.next();
    const unsigned per_lane = 1u << r.below(3);
    const unsigned places = r.below(3) == 0 ? 1 + r.below(8) : 16u << r.below(2);
    const unsigned first_lane = places < 32 ? r.below(33 - places) : 0;
    const bool stores = r.below(3) == 0;
    // Some loads also access each place with another lane.
    std::uint32_t first_lanes = 1u << first_lane;
    if (!stores && first_lane + 2 * places <= 32 && r.below(2) == 0)
      first_lanes |= first_lanes << places;
    const bool falls = (first_lanes & (first_lanes - 1)) == 0 && r.below(3) == 0;
    if (falls) first_lanes = 1u << (first_lane + places - 1);
    const unsigned width = places * per_lane;
    const std::size_t first = r.below(2) == 0
                                  ? r.below((cells_used - width) / 16 + 1) * 16
                                  : r.below((cells_used - width) / per_lane + 1) * per_lane;
    // The cells that lanes find open when checked one by one. This does not affect the comparison.
    const auto each_place = [&](auto f) {
      for (unsigned n = 0; n < places; ++n)
        for (std::uint32_t m = falls ? first_lanes >> n : first_lanes << n; m != 0; m &= m - 1)
          f(static_cast<unsigned>(__builtin_ctz(m)), first + n * per_lane);
    };
    cell_space trial(4096, 4);
    for (std::size_t k = first; k < first + width; ++k) trial.all()[k].copy(lanes[k]);
    bool open = false;
    each_place([&](unsigned lane, std::size_t at) {
      std::uint64_t where[32] = {};
      where[lane] = at;
      open |= (stores ? store_lanes(trial.all(), where, per_lane, 1u << lane, a)
                      : load_lanes(trial.all(), where, per_lane, 1u << lane, a)) != 0;
    });
    const bool ok = stores ? store_row(rows, first, per_lane, first_lanes, places, a, falls)
                           : load_row(rows, first, per_lane, first_lanes, places, a, falls);
    // A row may ask for a closer look where there is nothing to find, but never the reverse.
    if (ok) CHECK_FALSE(open);
    ++(ok ? settled : open_rows);
    if (ok) {
      each_place([&](unsigned lane, std::size_t at) {
        for (std::size_t k = at; k < at + per_lane; ++k) {
          if (stores)
            note_store(lanes[k], lane, a);
          else
            note_load(lanes[k], 1u << lane, a);
        }
      });
    }
    for (std::size_t g = 0; g < cells_used / 16; ++g) summaries += rows.summaries[g].is_spread == 0;
    if (round % 50 == 49) {
      bool same = true;
      for (std::size_t k = 0; k < cells_used; ++k)
        same = same && all_of(rows[k]) == all_of(lanes[k]);
      REQUIRE(same);
      by_rows.forget();
      by_lanes.forget();
    }
  }
  CHECK(settled > 5000);
  CHECK(open_rows > 1000);
  CHECK(summaries > 5000);
}

TEST_CASE("pages of words, halves and bytes remember the same as cells of single bytes would") {
  constexpr std::uint32_t bytes_used = 512;
  random_accesses r;
  unsigned grains[4] = {};
  for (int round = 0; round < 400; ++round) {
    memory_cells pages(bytes_used, 1000);
    cell_space alone(bytes_used, 1);
    const cells& bytes = alone.all();
    // Wide accesses first, narrower ones later.
    for (int n = 0; n < 40; ++n) {
      const accessor a = r.next();
      const unsigned widest = n < 20 ? 2 : 0, log2 = widest + r.below(n < 30 ? 2 : 3);
      const std::uint64_t size = std::uint64_t{1} << log2;
      const unsigned places = std::min<unsigned>(r.below(2) == 0 ? 32 : 1 + r.below(32), 32);
      const std::uint64_t width = places * size;
      const std::uint64_t first = r.below((bytes_used - static_cast<std::uint32_t>(width)) /
                                              static_cast<std::uint32_t>(size) +
                                          1) *
                                  size;
      const bool stores = r.below(3) == 0, falls = r.below(3) == 0;
      const std::uint32_t first_lane = falls ? 1u << (places - 1) : 1;
      const grain g = pages.touch(first, width, grain_for(size));
      REQUIRE(g != grain::untouched);
      ++grains[static_cast<unsigned>(g)];
      const auto cell_of = first >> log2_bytes(g);
      const auto per_lane = static_cast<unsigned>(size >> log2_bytes(g));
      const bool ok = stores
                          ? store_row(pages.of(g), cell_of, per_lane, first_lane, places, a, falls)
                          : load_row(pages.of(g), cell_of, per_lane, first_lane, places, a, falls);
      for (std::uint64_t k = 0; ok && k < width; ++k) {
        const auto place = static_cast<unsigned>(k / size),
                   lane = falls ? places - 1 - place : place;
        if (stores)
          note_store(bytes[first + k], lane, a);
        else
          note_load(bytes[first + k], 1u << lane, a);
      }
    }
    REQUIRE(pages.touch(0, bytes_used, grain::bytes) == grain::bytes);
    bool same = true;
    for (std::size_t k = 0; k < bytes_used; ++k) {
      // The writer of a byte that was never written has no meaning.
      if (bytes[k].write_time() == 0) bytes[k].writer() = pages.at(k).writer();
      same = same && all_of(pages.at(k)) == all_of(bytes[k]);
    }
    REQUIRE(same);
  }
  CHECK(grains[1] > 5000);
  CHECK(grains[2] > 300);
  CHECK(grains[3] > 1000);
}

TEST_CASE("a memory forgets its cells when there is no room for more") {
  memory_cells pages(1 << 20, 4);
  CHECK(pages.touch(0, 4, grain::words) == grain::words);
  CHECK(pages.touch(4096, 4, grain::halves) == grain::halves);
  CHECK(pages.touch(4096, 4, grain::words) == grain::halves);
  CHECK(pages.touch(0, 8192, grain::words) == grain::untouched);  // pages differ
  CHECK(store_row(pages.of(grain::words), 0, 1, 1, 32, warp(0, 25)));
  CHECK(pages.at(20).writer() == 5);
  CHECK(pages.touch(8192, 1, grain::bytes) == grain::bytes);
  CHECK(pages.touch(0, 4, grain::words) == grain::words);
  CHECK(pages.at(20).write_time() == 0);
}

TEST_CASE("groups by AVX-512 agree with groups in loops") {
  const group_functions* const wide = groups_by_avx512();
  if (wide == nullptr) {
    return stepwise::skip_case("this CPU has no AVX-512");
  }
  const group_functions& plain = *groups_in_loops();
  random_accesses r;
  unsigned open = 0;
  for (int round = 0; round < 20000; ++round) {
    accessor a = r.next();
    if (r.below(4) == 0) a.copies_known = a.now - r.below(10);
    if (r.below(4) == 0) a.own_copies_known = a.now - r.below(10);
    cell_group g;
    const auto thread = [&] { return r.below(4) * 32 + r.below(32); };
    const auto time = [&] { return r.below(3) == 0 ? 0 : a.now - r.below(30); };
    const bool alike = r.below(2) == 0;
    for (unsigned k = 0; k < cell_group::size; ++k) {
      g.write_time[k] = alike && k != 0 ? g.write_time[0] : time();
      g.writer[k] = alike && k != 0 ? g.writer[0] + k : thread();
      g.read_time[k] = alike && k != 0 ? g.read_time[0] : time();
      g.reader[k] = r.below(4);
      g.read_lanes[k] = 1u << r.below(32);
      g.older_time[k] = time();
      g.older_reader[k] = r.below(4);
      g.older_lanes[k] = r.random();
      g.write_site[k] = g.read_site[k] = g.older_site[k] = r.below(9);
    }
    row_part p{};
    p.inside = r.below(3) == 0 ? 0xffff : r.below(0x10000);
    p.shift = r.below(3);
    p.before = r.below(4) * 4 - r.below(3) * 4;
    p.first_lanes = 1u << r.below(8);
    p.step = r.below(2) == 0 ? 1 : ~0u;
    p.thread = r.below(4) == 0 ? row_part::no_thread : a.warp * 32 + r.below(8);
    const bool is_open = plain.load_is_open(g, p, a);
    open += is_open;
    CHECK(wide->load_is_open(g, p, a) == is_open);
    if (p.thread == row_part::no_thread) p.thread = a.warp * 32;
    CHECK(wide->store_is_open(g, p, a) == plain.store_is_open(g, p, a));
    cell_group loaded = g, loaded_wide = g;
    plain.note_load(loaded, p, a);
    wide->note_load(loaded_wide, p, a);
    CHECK(std::memcmp(&loaded, &loaded_wide, sizeof loaded) == 0);
    plain.note_store(g, p, a);
    wide->note_store(loaded, p, a);
    CHECK(std::memcmp(g.writer, loaded.writer, sizeof g.writer) == 0);
    CHECK(std::memcmp(g.write_time, loaded.write_time, sizeof g.write_time) == 0);
  }
  CHECK(open > 1000);
  CHECK(open < 19000);
}

TEST_CASE("separate lanes by AVX-512 agree with lanes in loops") {
  const lane_functions* const wide = lanes_by_avx512();
  if (wide == nullptr) {
    return stepwise::skip_case("this CPU has no AVX-512");
  }
  const lane_functions& plain = *lanes_in_loops();
  random_accesses r;
  constexpr std::uint32_t cells_used = 256;
  cell_space one(4096, 4), other(4096, 4);
  const cells &by_loops = one.all(), &by_vectors = other.all();
  unsigned open = 0, settled = 0;
  for (int round = 0; round < 20000; ++round) {
    accessor a = r.next();
    if (r.below(4) == 0) a.copies_known = a.now - r.below(10);
    if (r.below(4) == 0) a.own_copies_known = a.now - r.below(10);
    const unsigned per_lane = 1u << r.below(4);
    const std::uint32_t lanes = r.below(3) == 0 ? ~0u : r.random() & r.random();
    const bool shares = r.below(3) == 0, stores = r.below(3) == 0;
    std::uint64_t at[32] = {};
    const auto step = r.below(9);
    for (std::uint32_t l = 0; l < 32; ++l)
      at[l] = (shares ? r.below(cells_used) : (l * step + 7) % cells_used) / per_lane * per_lane;
    const auto visit = [&](const lane_functions& f, const cells& c) {
      return (stores ? f.store : f.load)(c, at, per_lane, lanes, a);
    };
    const std::uint32_t rest = visit(plain, by_loops);
    REQUIRE(visit(*wide, by_vectors) == rest);
    open += rest != 0;
    settled += (lanes & ~rest) != 0;
    if (round % 20 != 19) continue;
    bool same = true;
    for (std::size_t k = 0; k < cells_used; ++k)
      same = same && all_of(by_loops[k]) == all_of(by_vectors[k]);
    REQUIRE(same);
    one.forget();
    other.forget();
  }
  CHECK(open > 1000);
  CHECK(settled > 5000);
}

TEST_CASE("written bytes agree with a plain list of them") {
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
