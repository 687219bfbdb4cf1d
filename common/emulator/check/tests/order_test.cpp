// Tests which events order accesses: barriers, converging warps, fences with flags, streams.
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
  // Whether the access of (block, warp, lane) at `when` is ordered before (by, by_warp, by_lane).
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

TEST_CASE("a barrier orders the threads of its block, and no others") {
  launch l;
  const tick before = l.now(0, 0);
  CHECK_FALSE(l.ordered(before, 0, 0, 3, 0, 1, 5));
  CHECK(l.ordered(before, 0, 0, 3, 0, 0, 3));  // a thread with itself
  CHECK_FALSE(l.ordered(before, 0, 0, 3, 0, 0, 4));
  l.barrier(0);
  CHECK(l.ordered(before, 0, 0, 3, 0, 1, 5));
  CHECK(l.ordered(before, 0, 0, 3, 0, 0, 4));
  CHECK_FALSE(l.ordered(before, 0, 0, 3, 1, 0, 0));
  CHECK_FALSE(l.ordered(l.now(0, 0), 0, 0, 3, 0, 1, 5));  // an access after the barrier
}

TEST_CASE("lanes that meet know each other's past accesses, and those that the other knew of") {
  launch l;
  const tick before = l.now(0, 0);
  l.o.warp_met(l.blocks[0], 0, 0x3, all);  // lanes 0 and 1
  CHECK(l.ordered(before, 0, 0, 0, 0, 0, 1));
  CHECK_FALSE(l.ordered(before, 0, 0, 0, 0, 0, 2));
  l.o.warp_met(l.blocks[0], 0, 0x6, all);  // 1 and 2: lane 2 learns of lane 0 from lane 1
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
    CHECK_FALSE(l.ordered(l.now(0, 0), 0, 0, 0, 1, 0, 0));  // an access after the fence
    CHECK_FALSE(l.ordered(data, 0, 0, 1, 1, 0, 0));         // an access of another lane
    CHECK(l.ordered(data, 0, 0, 0, 1, 0, 0));
    CHECK_FALSE(l.ordered(data, 0, 0, 0, 1, 0, 1));  // another lane did not read the flag
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
  SUBCASE("an atomic update in between does not hide it") {
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
  SUBCASE("a release includes the accesses that a barrier ordered before it") {
    l.barrier(0);
    l.fence(0, 0, 1);
    l.write_flag(0, 0, 0, store);
    l.read_flag(1, 0, 0, load);
    l.fence(1, 0, 1);
    CHECK(l.ordered(data, 0, 1, 9, 1, 0, 0));
  }
}

TEST_CASE("a chain of releases orders the first access before the last") {
  launch l;
  const order::key second{8192, 0};
  const tick data = l.now(0, 0);
  l.fence(0, 0, 1);
  l.write_flag(0, 0, 0, store);
  l.read_flag(0, 1, 0, load);  // a thread of the other warp passes the data on
  l.fence(0, 1, 1);
  l.o.strong_write(l.blocks[0], 1, 0, second, store);
  l.o.strong_read(l.blocks[1], warps, 0, second, load);
  l.fence(1, 0, 1);
  CHECK(l.ordered(data, 0, 0, 0, 1, 0, 0));
}

TEST_CASE("a named barrier orders the warps that arrive at it before the warps that wait") {
  launch l;
  const tick before = l.now(0, 0);
  l.o.reached_barrier(l.blocks[0], {0, all, nullptr}, 1, false);  // only arrives
  l.o.reached_barrier(l.blocks[0], {1, all, nullptr}, 1, true);
  const tick of_waiter = l.now(0, 1);
  l.o.released_barrier(l.blocks[0], 1, true);
  CHECK(l.ordered(before, 0, 0, 3, 0, 1, 5));
  CHECK_FALSE(l.ordered(of_waiter, 0, 1, 5, 0, 0, 3));
}

TEST_CASE("named barriers pass on what other blocks have released") {
  for (const sync_scope scope : {sync_scope::gpu, sync_scope::block}) {
    launch l;
    const auto meet = [&](unsigned block) {
      for (const std::uint32_t warp : {0u, 1u})
        l.o.reached_barrier(l.blocks[block], {warp, all, nullptr}, 1, true);
      l.o.released_barrier(l.blocks[block], 1, false);
    };
    const tick data = l.now(0, 1);
    meet(0);
    l.write_flag(0, 0, 0, launch::site(access_kind::store, scope, memory_order::release));
    l.read_flag(1, 0, 0, launch::site(access_kind::load, scope, memory_order::acquire));
    const bool reaches_other_blocks = scope == sync_scope::gpu;
    CHECK(l.ordered(data, 0, 1, 9, 1, 0, 0) == reaches_other_blocks);
    CHECK_FALSE(l.ordered(data, 0, 1, 9, 1, 1, 5));
    meet(1);
    CHECK(l.ordered(data, 0, 1, 9, 1, 1, 5) == reaches_other_blocks);
  }
}

TEST_CASE("copies are done after a wait for their group") {
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
  SUBCASE("different streams are not ordered") {
    o.begin_work({2, false});
    CHECK_FALSE(o.knows_work(first));
    CHECK(o.settled() < o.launch_began());
  }
  SUBCASE("one stream is ordered") {
    o.begin_work({1, false});
    CHECK(o.knows_work(first));
    CHECK(o.settled() == o.launch_began());
  }
  SUBCASE("an event orders two streams") {
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
  SUBCASE("a wait on the host orders") {
    o.host_waited(no_stream);
    o.begin_work({2, true});
    CHECK(o.knows_work(first));
  }
  SUBCASE("a wait on the host for an event orders the work before the event") {
    o.mark_event(7, 1);
    o.begin_work({1, false});
    const std::uint32_t later = o.current_work();
    o.host_waited_for_event(8);  // an event that was never recorded
    o.begin_work({2, false});
    CHECK_FALSE(o.knows_work(first));
    o.host_waited_for_event(7);
    o.begin_work({2, false});
    CHECK(o.knows_work(first));
    CHECK_FALSE(o.knows_work(later));
  }
  SUBCASE("work that the host may know of is ordered, including or excluding running work") {
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
  SUBCASE("an event or a wait in an empty default stream comes after blocking streams") {
    SUBCASE("an event that the host waits for") {
      o.mark_event(7, 0);
      o.host_waited_for_event(7);
    }
    SUBCASE("a wait on the host") { o.host_waited(0); }
    SUBCASE("a host function") { o.host_may_know(0); }
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
  SUBCASE("the default stream waits for blocking streams, and they wait for it") {
    o.begin_work({});
    CHECK(o.knows_work(first));
    o.begin_work({2, false});
    CHECK(o.knows_work(first));
    o.begin_work({3, true});
    CHECK_FALSE(o.knows_work(first));
  }
}
