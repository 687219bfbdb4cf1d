// Finds races: two accesses of the same bytes, at least one a write, that nothing orders.
//
// idea    The cells of the shadow memory remember who accessed a word last. Most accesses are
//         settled by one comparison with the last barrier, for runs of lanes at once. The order of
//         releases and acquires is searched for the others.
#pragma once

#include "common/emulator/check/advice/race_report.hpp"
#include "common/emulator/check/evidence.hpp"
#include "common/emulator/check/host_check.hpp"
#include "common/emulator/check/initialisation.hpp"
#include "common/emulator/check/kept_loads.hpp"

namespace stepwise::emulator {

class race_check final : public check {
 public:
  race_check(evidence& all, initialisation_check& initialisation, host_check& host)
      : check(all), initialisation_(initialisation), host_(host), report_(all) {}

  void begin_launch(const launch_info& info) override;
  status end_launch(const status& failure) override;
  void begin_block(const block& b) override;
  void switch_to(const block& b) override { deferred_.switch_to(b); }

  // The accessor for the cells: a warp of the running block, at a site.
  accessor accessor_of(std::uint32_t warp, std::uint32_t number, const shadow_memory& m) const;
  // Compares a lane's access with what the cells remember, and records it there.
  // Records an access of the running block to `peer`'s memory. When a block exits, all accesses of
  // other blocks to its memory must be ordered before its exit.
  void note_peer_access(checked_block& peer, const checked_block::peer_access& a);
  void check_exit(const block& b);
  void reached_exited_block(const checked_block& owner, const checked_block::peer_access& a) {
    report_.add_exit(owner, a);
  }
  void look_closer(const lane_access& t);
  // A unit's access, issued at the tick `issued`, has ended for its thread. Conflicting accesses in
  // between race with it. Later ones race with it unless they are ordered after the present tick.
  void unit_ended(const lane_access& t, tick issued);
  // Records the accesses of every lane that cannot race with an earlier access, although a
  // comparison with the last barrier does not show it. Returns the lanes that it recorded.
  std::uint32_t visit_ordered(const access_event& e, shadow_memory& m, std::uint64_t base,
                              std::uint32_t lanes_in);

  // Whether one of `count` cells may have been written by a copy that has not finished. If none
  // was, accessor::without_copies() may visit them.
  bool may_hold_copies(const cells& c, std::uint64_t first, std::uint64_t count,
                       const accessor& a) const;

  // Tries to defer a load of shared memory: see kept_loads.hpp.
  [[gnu::always_inline]] bool keep_back(const access_event& e);
  // Called before an access to shared memory that is not deferred.
  void end_keeping(std::uint32_t warp, access_kind kind);
  // Tries to keep a load whose lanes' addresses are not adjacent as part of a walk.
  bool try_keep_walk(const access_event& e, shadow_memory& m, const accessor& a, std::uint64_t base,
                     const cells& c, const std::uint64_t* at, unsigned per_lane);
  // Records the walks through global memory in the cells.
  void note_walks();

  // A copy or fill of the current stream reads or writes these bytes.
  void copy_touches(device_address at, std::uint64_t bytes, bool writes);

 private:
  // The loads of a block's shared memory that the cells do not know of yet.
  struct deferred_loads {
    tick stored_at = 0;  // the last time that a thread wrote there
    kept_loads kept;     // all since the block's last barrier
    tick kept_since = 0;
  };
  static constexpr std::uint32_t no_warp = ~std::uint32_t{0} / 32;

  std::uint32_t first_warp() const { return evidence_.running().clock.first_warp; }
  std::uint32_t existing_lanes(std::uint32_t warp) const;
  void note_kept_loads();
  void note_walk(const kept_walks::walk& w);
  void check_cell(const lane_access& t, const cell& c, const accessor& a);
  void conflict(const lane_access& t, std::uint32_t other_warp, std::uint32_t other_lanes,
                std::uint32_t other_site, tick when, bool other_writes);
  bool both_strong(const access_site& s, std::uint32_t other, std::uint32_t other_warp) const;
  bool in_step(const lane_access& t, std::uint32_t other, std::uint32_t other_warp) const;
  bool copies_settled(std::uint32_t own_warp, std::uint32_t other, tick when,
                      std::uint32_t writer) const;
  void synchronise(const lane_access& t);
  bool at_once(const lane_access& t, std::uint32_t other_warp, std::uint32_t other_lanes,
               std::uint32_t other_site) const;
  race_between between(const lane_access& t, std::uint32_t other_warp, std::uint32_t other_lanes,
                       std::uint32_t other_site, tick when);
  bool streams_matter() const;
  void copy_touches_cell(const cell& c, std::uint64_t at, bool writes, const accessor& a);

  initialisation_check& initialisation_;
  host_check& host_;
  race_report report_;
  by_block<deferred_loads> deferred_;
  kept_walks walks_;  // through global memory
};

inline accessor race_check::accessor_of(std::uint32_t warp, std::uint32_t number,
                                        const shadow_memory& m) const {
  const block_clock& b = evidence_.running().clock;
  const order& sequence = evidence_.sequence;
  const warp_clock& w = b.warps[warp];
  // Shared memory is accessed only by its own block, unless that block is in a cluster. All blocks
  // of a cluster begin before any of them runs.
  const bool has_peers = evidence_.running().now->together != nullptr;
  accessor a{!m.is_shared ? sequence.settled()
             : has_peers  ? b.began
                          : b.barrier,
             b.barrier,
             b.first_warp,
             evidence_.block_warps,
             sequence.launch_began(),
             w.now,
             b.first_warp + warp,
             number};
  a.met = w.met;
  // A barrier alone does not complete asynchronous copies, which write to shared memory.
  if (m.is_shared) {
    a.copies_known = b.copies_known;
    if (w.copied >= w.copies_done) a.own_copies_known = w.copies_done;
  } else if (!sequence.has_released_in_global()) {
    a.two_readers = sequence.launch_began();
  }
  return a;
}

inline bool race_check::keep_back(const access_event& e) {
  const checked_block& b = evidence_.running();
  deferred_loads& loads = deferred_.current();
  const shadow_memory& m = *b.shared;
  const access_site& s = *e.site;
  const access_shape& shape = *e.shape;
  if (s.kind != access_kind::load || s.order != memory_order::weak || b.now->together != nullptr ||
      loads.stored_at >= std::min(b.clock.barrier, b.clock.copies_known))
    return false;
  const std::uint64_t first = e.address[shape.first];
  if (shape.runs == 0) {
    for (std::uint32_t l = e.active; l != 0; l &= l - 1)
      if (!m.written.all_aligned(e.address[__builtin_ctz(l)], s.bytes)) return false;
  } else {
    for (unsigned n = 0; n < shape.runs; ++n)
      if (!m.written.all(first + shape.run[n].offset, std::uint64_t{s.bytes} * shape.run[n].count))
        return false;
  }
  if (loads.kept_since != b.clock.barrier) {
    loads.kept.clear();
    loads.kept_since = b.clock.barrier;
  }
  if (loads.kept.full()) note_kept_loads();
  loads.kept.keep(e, b.clock.warps[e.warp].now);
  return true;
}

}  // namespace stepwise::emulator
