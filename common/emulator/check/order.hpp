// The happens-before order that PTX defines between the accesses of threads.
//
// idea    A checked launch runs on one worker, so every synchronising operation gets a tick of one
//         clock, and an access is marked with the last tick of its warp. A thread knows another
//         thread's accesses up to some tick: all of earlier launches, its block's up to the block's
//         last barrier, its warp's up to the last __syncwarp. Synchronisation across blocks or
//         within parts of a block (fences with flags, named barriers, mbarriers) uses sync objects.
//         A release appends its thread's knowledge to the object's log. An acquire records how far
//         it has read the log. Logs are searched only if two accesses would otherwise be a race.
// watch   A fence by every thread before a barrier also counts for a release after the barrier. A
//         fence after a barrier also counts for other threads' reads before the barrier. PTX
//         requires the fence and the flag's access in one thread, but hardware combines fences and
//         barriers, and CUDA's samples rely on it. A search that takes too long, or a truncated
//         log, counts as ordered: a race may be missed, never invented. `gave_up` counts these
//         cases.
// source  PTX ISA 9.0, "Memory Consistency Model". Tested by tests/order_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/emulator/machine/observer.hpp"
#include "common/emulator/run/block.hpp"

namespace stepwise::emulator {

using tick = std::uint32_t;

struct sync_object;

// The part of an object that a thread learned: entries [from, upto) of its log.
struct acquired {
  const sync_object* object;
  std::uint32_t from, upto;
  tick when;
  sync_scope scope;
};
using knowledge = std::vector<acquired>;

// The accesses that a release publishes: those of some lanes of a warp before `before`, those of
// their block before its barrier at `block_before`, and what the releasing lanes had learned.
struct release_entry {
  std::uint32_t warp, lanes, block;
  tick before, block_before;
  tick met_before;  // any lane's accesses before this tick are published too
  sync_scope scope;
  std::shared_ptr<const knowledge> known;
};

struct sync_object {
  std::deque<release_entry> log;
  std::uint32_t visible_from = 0;  // a plain write hides the releases before it
  bool cut = false;                // entries were dropped: everything counts as released
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_warp, by_block;  // into log
};

struct warp_clock {
  tick now = 0;  // the tick of its accesses
  tick met = 0;  // its lanes know each other's accesses before this tick
  tick copies_done = 0, copies_done_at_barrier = 0;  // cp.async before this tick has finished
  std::deque<tick> copy_groups;
  tick copied = 0;  // its last cp.async, which is unfinished unless it is before copies_done
  knowledge learned;
  std::vector<std::uint32_t> learned_by;  // lane masks, one per entry of `learned`
  struct lane_fence {
    tick before = 0, block_before = 0;
    sync_scope scope = sync_scope::block;
  };
  std::unique_ptr<std::array<lane_fence, 32>> fences;
  std::vector<std::pair<acquired, std::uint32_t>> seen;  // strong reads before a fence, with lanes
  // known[l][m]: lane l knows lane m's accesses before this tick. Null until only some lanes meet.
  std::unique_ptr<std::array<std::array<tick, 32>, 32>> lanes_known;
};

struct block_clock {
  std::uint32_t index = 0;  // in the launch, truncated to 32 bits
  std::uint32_t first_warp = 0;
  tick began = 0;
  tick barrier = 0;  // all its threads know each other's accesses before this tick
  // Every cp.async copy that the block issued before this tick had finished by the block's last
  // barrier. Later copies may not have. If all had finished, this is the highest possible tick.
  tick copies_known = ~tick{0};
  std::vector<warp_clock> warps;
  knowledge learned;  // by all its threads
  knowledge seen;     // reads by its threads before a barrier, for a fence after it
  struct grid_wait {
    std::uint32_t warp, lanes;
    tick when;
  };
  std::vector<grid_wait> grid_waits;  // griddepcontrol.wait
  struct arrival {
    std::uint32_t warp, lanes;
    bool waits;
  };
  std::array<std::vector<arrival>, waits_of_block> arrivals;  // at barriers that have not released
};

class order {
 public:
  tick now() const { return now_; }
  // Notes whether a stream is ordered with the legacy default stream.
  void enter_stream(const stream_use& use) { streams_[use.stream].non_blocking = use.non_blocking; }
  // Starts a launch, a copy or another piece of work of a stream. An early_launch may begin before
  // the previous launch has ended, but its threads may wait for that end (waited_for_grids).
  enum class work_kind : std::uint8_t { other, launch, early_launch };
  void begin_work(const stream_use& use, work_kind kind = work_kind::other);
  // The host has waited for a stream, for all work (no_stream), or for a marked event.
  void host_waited(std::uint64_t stream);
  void host_waited_for_event(std::uint64_t event);
  // The host may have learned, in a way that the emulator does not see, that a stream's work has
  // ended: all of it, or all of it before the running work. Later work counts as ordered after it.
  void host_may_know(std::uint64_t stream, bool with_running_work = true);
  // Like host_may_know(), with more evidence: one of the program's functions runs after the work,
  // or the host has read a flag. The host may then use the memory that the work wrote.
  void host_learned(std::uint64_t stream);
  void mark_event(std::uint64_t event, std::uint64_t stream);
  void wait_event(std::uint64_t event, std::uint64_t stream);
  bool several_streams() const { return streams_.size() > 1; }

  // All accesses before this tick are ordered before the running work.
  tick settled() const { return settled_; }
  tick launch_began() const { return launch_began_; }
  // The work that an access belongs to, counted from 0.
  std::uint32_t work_of(tick t) const;
  // Whether a piece of work is ordered before the running one.
  bool knows_work(std::uint32_t work) const;
  // Whether the host has waited for a piece of work, or host_learned() about it.
  bool host_knows(std::uint32_t work) const;
  std::uint64_t stream_of(std::uint32_t work) const { return works_[work].stream; }
  std::uint32_t current_work() const { return static_cast<std::uint32_t>(works_.size()) - 1; }

  void begin_launch(std::uint32_t warps_per_block);
  void begin_block(block_clock& b, std::uint64_t index, std::uint32_t warps);

  // Returns those of `other_lanes` whose accesses at tick `before` are not ordered before lane
  // `lane` of warp `warp`, which is in the running block `b`. Warps are numbered across the launch.
  std::uint32_t unordered(const block_clock& b, std::uint32_t warp, int lane, tick before,
                          std::uint32_t other_warp, std::uint32_t other_lanes);

  // Whether all lanes of a warp have learned the same. Also false if checking would take long.
  static bool lanes_know_the_same(const warp_clock& w) {
    constexpr std::size_t few = 8;
    return w.learned_by.size() <= few &&
           std::ranges::all_of(w.learned_by, [](std::uint32_t by) { return by == ~0u; });
  }

  // Whether an atomic operation of a warp releases and acquires nothing.
  bool orders_nothing(const access_site& s, const warp_clock& w, bool on_shared) const {
    return s.order == memory_order::relaxed && !w.fences &&
           !(on_shared ? released_in_shared_ : released_in_global_);
  }

  void reached_barrier(block_clock& b, const warp_event& e, unsigned id, bool waits);
  void released_barrier(block_clock& b, unsigned id, bool whole_block);
  // All live threads of a cluster have met at its barrier.
  void released_cluster_barrier(std::span<block_clock* const> blocks);
  void warp_met(block_clock& b, std::uint32_t warp, std::uint32_t lanes, std::uint32_t alive);
  void fenced(block_clock& b, const warp_event& e, memory_order o, sync_scope s);
  // Lanes have executed griddepcontrol.wait.
  void waited_for_grids(block_clock& b, const warp_event& e);
  // Gives a warp's later accesses a later tick than its earlier ones, and returns that tick.
  tick advance(warp_clock& w) { return w.now = next(); }
  // The knowledge that all or any of these lanes of a warp have acquired so far; null if there is
  // none. It does not include the order that the block's barriers and __syncwarp establish.
  enum class of_lanes : std::uint8_t { all, any };
  std::shared_ptr<const knowledge> known_by(const block_clock& b, std::uint32_t warp,
                                            std::uint32_t lanes,
                                            of_lanes which = of_lanes::all) const;
  // Whether `k` covers the accesses of a lane of block b before a tick. `warp` is numbered in the
  // launch.
  bool covers(const knowledge& k, const block_clock& b, std::uint32_t warp, int lane, tick before);
  void committed_copies(warp_clock& w);
  void waited_for_copies(warp_clock& w, int groups_left);

  // Identifies what a strong access of one lane synchronises through: an address of global memory,
  // or an address of shared memory together with its block.
  struct key {
    std::uint64_t address, block_plus_one;  // 0: global memory
    bool operator==(const key&) const = default;
  };
  void strong_write(block_clock& b, std::uint32_t warp, int lane, const key& k,
                    const access_site& site);
  void strong_read(block_clock& b, std::uint32_t warp, int lane, const key& k,
                   const access_site& site);
  // At an mbarrier, an arrival releases, and a thread that sees the phase complete acquires. This
  // also holds between blocks of a cluster.
  void arrive(block_clock& b, std::uint32_t warp, int lane, const key& k);
  void see_phase(block_clock& b, std::uint32_t warp, int lane, const key& k);

  // Whether a thread of the running launch has released anything through global memory.
  bool has_released_in_global() const { return released_in_global_; }

  std::uint64_t gave_up() const { return gave_up_; }

 private:
  struct key_hash {
    std::size_t operator()(const key& k) const {
      return std::hash<std::uint64_t>{}(k.address * 0x9e3779b97f4a7c15u ^ k.block_plus_one);
    }
  };
  tick next() { return ++now_; }
  bool has_objects(const key& k) const {
    return k.block_plus_one == 0 ? released_in_global_ : released_in_shared_;
  }
  void release(const block_clock& b, std::uint32_t warp, std::uint32_t lanes, sync_object& o,
               tick before, tick block_before, sync_scope scope);
  static bool all_fenced(const block_clock& b, const std::vector<block_clock::arrival>& arrivals);
  static void learn(warp_clock& w, std::uint32_t lanes, const acquired& a);
  // Looks for a chain of releases and acquires from an access to the running thread.
  struct search {
    tick before;
    std::uint32_t warp, lanes, block, own_block;
    int steps = 0;
    // The entries searched so far, by object and by the block that learned of them.
    std::map<std::pair<const sync_object*, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>>
        visited = {};
  };
  bool proves(const acquired& a, search& s);
  bool any_proves(const knowledge& k, search& s);

  struct stream_state {
    bool non_blocking = false;
    std::vector<tick> began;                        // start ticks of its works
    bool ends_with_launch = false;                  // its last work is a launch
    std::unordered_map<std::uint64_t, tick> known;  // works of other streams before these ticks
  };

  stream_state& meet(std::uint64_t stream);

  bool has_waited_for_grids(const block_clock& b, std::uint32_t warp, int lane);

  tick now_ = 0, settled_ = 0, launch_began_ = 0;
  // The tick at which the launch before the running one began, if that launch may not have ended.
  // Otherwise the highest possible tick.
  tick may_overlap_ = ~tick{0};
  std::uint32_t block_warps_ = 1;
  std::unordered_map<key, sync_object, key_hash> objects_;
  struct work {
    tick began;
    std::uint64_t stream;
  };
  std::vector<work> works_;
  std::unordered_map<std::uint64_t, stream_state> streams_;
  std::unordered_map<std::uint64_t, tick> host_known_, host_may_know_, host_learned_;
  std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, tick>> events_;
  std::uint64_t stream_ = 0;  // the running work's
  // A cached search result: the lanes of `other_warp` whose accesses before the tick `before` are
  // ordered before the reader's next access. `reader` is 33 * warp + lane, where lane 32 stands for
  // all lanes of a warp that have learned the same. A hash of both members is its index.
  struct answer {
    std::uint64_t reader = ~std::uint64_t{0};
    std::uint32_t other_warp = 0, lanes = 0;
    tick before = 0;
  };
  std::array<answer, 4096> answers_{};
  // Whether a thread of the running launch has released something there.
  bool released_in_global_ = false, released_in_shared_ = false;
  std::uint64_t gave_up_ = 0;
  std::int64_t steps_left_ = 0;  // for searches of the running launch
};

}  // namespace stepwise::emulator
