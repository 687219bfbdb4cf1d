// Tests what the checks treat as ordered: barriers, converging warps, fences with flags, streams.
#include "common/emulator/check/order.hpp"

#include <doctest/doctest.h>

using namespace stepwise;
using namespace stepwise::emulator;

namespace {

constexpr std::uint32_t all = 0xffffffffu;
constexpr unsigned warps = 2;

// Two blocks of two warps in one launch.
struct launch {
  order o;
  block_clock blocks[2];

  launch() {
    o.begin_work({});
    o.begin_launch(warps);
    o.begin_block(blocks[0], 0, warps);
    o.begin_block(blocks[1], 1, warps);
  }
  tick now(unsigned block, unsigned warp) const { return blocks[block].warps[warp].now; }
  // Whether what (block, warp, lane) did at `when` is ordered before (by, its warp, its lane).
  bool ordered(tick when, unsigned block, unsigned warp, int lane, unsigned by, unsigned by_warp,
               int by_lane) {
    return o.unordered(blocks[by], by * warps + by_warp, by_lane, when, block * warps + warp,
                       std::uint32_t{1} << lane) == 0;
  }
  void barrier(unsigned block) {
    for (std::uint32_t w = 0; w < warps; ++w)
      o.reached_barrier(blocks[block], {w, all, nullptr}, 0, true);
    o.released_barrier(blocks[block], 0, true);
  }
  void fence(unsigned block, std::uint32_t warp, std::uint32_t lanes,
             memory_order order = memory_order::acquire_release,
             sync_scope scope = sync_scope::gpu) {
    o.fenced(blocks[block], {warp, lanes, nullptr}, order, scope);
  }
  static access_site site(access_kind kind, sync_scope scope = sync_scope::gpu,
                          memory_order order = memory_order::relaxed) {
    access_site s;
    s.kind = kind;
    s.order = order;
    s.scope = scope;
    return s;
  }
  void write_flag(unsigned block, unsigned warp, int lane, const access_site& s) {
    o.strong_write(blocks[block], block * warps + warp, lane, flag, s);
  }
  void read_flag(unsigned block, unsigned warp, int lane, const access_site& s) {
    o.strong_read(blocks[block], block * warps + warp, lane, flag, s);
  }
  static constexpr order::key flag{4096, 0};
};

const access_site store = launch::site(access_kind::store);
const access_site load = launch::site(access_kind::load);

}  // namespace

TEST_CASE("a barrier orders a block, and only that") {
  launch l;
  const tick before = l.now(0, 0);
  CHECK_FALSE(l.ordered(before, 0, 0, 3, 0, 1, 5));
  CHECK(l.ordered(before, 0, 0, 3, 0, 0, 3));  // a thread and itself
  CHECK_FALSE(l.ordered(before, 0, 0, 3, 0, 0, 4));
  l.barrier(0);
  CHECK(l.ordered(before, 0, 0, 3, 0, 1, 5));
  CHECK(l.ordered(before, 0, 0, 3, 0, 0, 4));
  CHECK_FALSE(l.ordered(before, 0, 0, 3, 1, 0, 0));
  CHECK_FALSE(l.ordered(l.now(0, 0), 0, 0, 3, 0, 1, 5));  // what came after it
}

TEST_CASE("lanes that meet know each other's past, and what those knew") {
  launch l;
  const tick before = l.now(0, 0);
  l.o.warp_met(l.blocks[0], 0, 0x3, all);  // lanes 0 and 1
  CHECK(l.ordered(before, 0, 0, 0, 0, 0, 1));
  CHECK_FALSE(l.ordered(before, 0, 0, 0, 0, 0, 2));
  l.o.warp_met(l.blocks[0], 0, 0x6, all);  // 1 and 2: 2 learns of 0 from 1
  CHECK(l.ordered(before, 0, 0, 0, 0, 0, 2));
  CHECK_FALSE(l.ordered(before, 0, 0, 0, 0, 0, 3));
  l.o.warp_met(l.blocks[0], 0, all, all);
  CHECK(l.ordered(before, 0, 0, 0, 0, 0, 3));
  CHECK_FALSE(l.ordered(before, 0, 0, 0, 0, 1, 3));
}

TEST_CASE("fence, flag, flag, fence") {
  launch l;
  const tick data = l.now(0, 0);
  SUBCASE("all four") {
    l.fence(0, 0, 1);
    l.write_flag(0, 0, 0, store);
    l.read_flag(1, 0, 0, load);
    CHECK_FALSE(l.ordered(data, 0, 0, 0, 1, 0, 0));
    l.fence(1, 0, 1);
    CHECK(l.ordered(data, 0, 0, 0, 1, 0, 0));
    CHECK_FALSE(l.ordered(l.now(0, 0), 0, 0, 0, 1, 0, 0));  // what came after the fence
    CHECK_FALSE(l.ordered(data, 0, 0, 1, 1, 0, 0));         // what another lane did
    CHECK(l.ordered(data, 0, 0, 0, 1, 0, 0));
    CHECK_FALSE(l.ordered(data, 0, 0, 0, 1, 0, 1));  // another lane did not look
    l.barrier(1);
    CHECK(l.ordered(data, 0, 0, 0, 1, 1, 7));
  }
  SUBCASE("no fence before the write") {
    l.write_flag(0, 0, 0, store);
    l.read_flag(1, 0, 0, load);
    l.fence(1, 0, 1);
    CHECK_FALSE(l.ordered(data, 0, 0, 0, 1, 0, 0));
  }
  SUBCASE("a fence for the block is not enough between blocks") {
    l.fence(0, 0, 1, memory_order::acquire_release, sync_scope::block);
    l.write_flag(0, 0, 0, store);
    l.read_flag(1, 0, 0, load);
    l.fence(1, 0, 1);
    CHECK_FALSE(l.ordered(data, 0, 0, 0, 1, 0, 0));
  }
  SUBCASE("a later plain write hides the release") {
    l.fence(0, 0, 1);
    l.write_flag(0, 0, 0, store);
    l.write_flag(0, 1, 0, store);
    l.read_flag(1, 0, 0, load);
    l.fence(1, 0, 1);
    CHECK_FALSE(l.ordered(data, 0, 0, 0, 1, 0, 0));
  }
  SUBCASE("an atomic update in between does not") {
    l.fence(0, 0, 1);
    l.write_flag(0, 0, 0, store);
    l.write_flag(0, 1, 0, launch::site(access_kind::atomic));
    l.read_flag(1, 0, 0, load);
    l.fence(1, 0, 1);
    CHECK(l.ordered(data, 0, 0, 0, 1, 0, 0));
  }
  SUBCASE("release and acquire need no fences") {
    l.write_flag(0, 0, 0, launch::site(access_kind::store, sync_scope::gpu, memory_order::release));
    l.read_flag(1, 0, 0, launch::site(access_kind::load, sync_scope::gpu, memory_order::acquire));
    CHECK(l.ordered(data, 0, 0, 0, 1, 0, 0));
  }
  SUBCASE("what a barrier gathered is released with it") {
    l.barrier(0);
    l.fence(0, 0, 1);
    l.write_flag(0, 0, 0, store);
    l.read_flag(1, 0, 0, load);
    l.fence(1, 0, 1);
    CHECK(l.ordered(data, 0, 1, 9, 1, 0, 0));
  }
}

TEST_CASE("chains of releases order") {
  launch l;
  const order::key second{8192, 0};
  const tick data = l.now(0, 0);
  l.fence(0, 0, 1);
  l.write_flag(0, 0, 0, store);
  l.read_flag(0, 1, 0, load);  // a thread of the other warp passes it on
  l.fence(0, 1, 1);
  l.o.strong_write(l.blocks[0], 1, 0, second, store);
  l.o.strong_read(l.blocks[1], warps, 0, second, load);
  l.fence(1, 0, 1);
  CHECK(l.ordered(data, 0, 0, 0, 1, 0, 0));
}

TEST_CASE("a named barrier orders those that come to it") {
  launch l;
  const tick before = l.now(0, 0);
  l.o.reached_barrier(l.blocks[0], {0, all, nullptr}, 1, false);  // arrives only
  l.o.reached_barrier(l.blocks[0], {1, all, nullptr}, 1, true);
  const tick of_waiter = l.now(0, 1);
  l.o.released_barrier(l.blocks[0], 1, true);
  CHECK(l.ordered(before, 0, 0, 3, 0, 1, 5));
  CHECK_FALSE(l.ordered(of_waiter, 0, 1, 5, 0, 0, 3));
}

TEST_CASE("copies are done when their group was waited for") {
  launch l;
  warp_clock& w = l.blocks[0].warps[0];
  const tick first = w.now;
  l.o.committed_copies(w);
  const tick second = w.now;
  l.o.committed_copies(w);
  l.o.waited_for_copies(w, 1);
  CHECK(first < w.copies_done);
  CHECK_FALSE(second < w.copies_done);
  CHECK_FALSE(first < w.copies_done_at_barrier);
  l.barrier(0);
  CHECK(first < w.copies_done_at_barrier);
  l.o.waited_for_copies(w, 0);
  CHECK(second < w.copies_done);
}

TEST_CASE("streams") {
  order o;
  o.begin_work({1, false});
  const std::uint32_t first = o.current_work();
  SUBCASE("are not ordered by themselves") {
    o.begin_work({2, false});
    CHECK_FALSE(o.knows_work(first));
    CHECK(o.settled() < o.launch_began());
  }
  SUBCASE("one stream is") {
    o.begin_work({1, false});
    CHECK(o.knows_work(first));
    CHECK(o.settled() == o.launch_began());
  }
  SUBCASE("an event orders") {
    o.mark_event(7, 1);
    o.wait_event(7, 2);
    o.begin_work({2, false});
    CHECK(o.knows_work(first));
  }
  SUBCASE("an event that was recorded too early does not") {
    o.mark_event(7, 1);
    o.begin_work({1, false});
    const std::uint32_t later = o.current_work();
    o.wait_event(7, 2);
    o.begin_work({2, false});
    CHECK(o.knows_work(first));
    CHECK_FALSE(o.knows_work(later));
  }
  SUBCASE("the host's waiting orders") {
    o.host_waited(no_stream);
    o.begin_work({2, true});
    CHECK(o.knows_work(first));
  }
  SUBCASE("the host's waiting for an event orders what it marked") {
    o.mark_event(7, 1);
    o.begin_work({1, false});
    const std::uint32_t later = o.current_work();
    o.host_waited_for_event(8);  // never recorded
    o.begin_work({2, false});
    CHECK_FALSE(o.knows_work(first));
    o.host_waited_for_event(7);
    o.begin_work({2, false});
    CHECK(o.knows_work(first));
    CHECK_FALSE(o.knows_work(later));
  }
  SUBCASE("what the host may know orders, with the running work or without") {
    o.begin_work({1, false});
    const std::uint32_t running = o.current_work();
    o.host_may_know(1, false);
    o.begin_work({2, true});
    CHECK(o.knows_work(first));
    CHECK_FALSE(o.knows_work(running));
    o.host_may_know(1);
    o.begin_work({2, true});
    CHECK(o.knows_work(running));
  }
  SUBCASE("what happens in the default stream comes after blocking streams, without work there") {
    SUBCASE("an event that the host waits for") {
      o.mark_event(7, 0);
      o.host_waited_for_event(7);
    }
    SUBCASE("the host's waiting") { o.host_waited(0); }
    SUBCASE("a function of the host's") { o.host_may_know(0); }
    o.begin_work({3, true});
    CHECK(o.knows_work(first));
  }
  SUBCASE("blocking streams come after an event in the default stream") {
    o.mark_event(7, 0);
    o.begin_work({2, false});
    CHECK(o.knows_work(first));
    o.begin_work({3, true});
    CHECK_FALSE(o.knows_work(first));
  }
  SUBCASE("an event in the default stream does not come after non-blocking streams") {
    o.begin_work({4, true});
    const std::uint32_t apart = o.current_work();
    o.mark_event(7, 0);
    o.host_waited_for_event(7);
    o.host_waited(0);
    o.begin_work({2, false});
    CHECK(o.knows_work(first));
    CHECK_FALSE(o.knows_work(apart));
  }
  SUBCASE("a non-blocking stream's event does not come after the default stream") {
    o.begin_work({});
    const std::uint32_t in_default = o.current_work();
    o.enter_stream({5, true});
    o.mark_event(7, 5);
    o.host_waited_for_event(7);
    o.begin_work({6, true});
    CHECK_FALSE(o.knows_work(in_default));
  }
  SUBCASE("the default stream waits for blocking streams, and they for it") {
    o.begin_work({});
    CHECK(o.knows_work(first));
    o.begin_work({2, false});
    CHECK(o.knows_work(first));
    o.begin_work({3, true});
    CHECK_FALSE(o.knows_work(first));
  }
}
