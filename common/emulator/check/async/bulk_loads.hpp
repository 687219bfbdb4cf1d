// The bulk copies to a block's shared memory, and which of its threads have waited for them.
//
// idea    In a checked run, the emulator completes a bulk copy at once, so a thread reads the right
//         data even if it does not wait. Here a copy counts as unfinished until a thread has seen
//         the phase of the copy's mbarrier complete. A lane knows that if it saw the phase itself,
//         or if another lane's observation is ordered before the running access: by a barrier, by
//         __syncwarp, by a flag with fences, or by another mbarrier (order.hpp).
// tests   ../tests/async_test.cpp
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/emulator/check/order.hpp"

namespace stepwise::emulator {

// The lanes of a warp that saw a copy's phase complete, and when.
struct phase_observation {
  std::uint32_t warp, lanes;  // the warp in its block
  tick when;
};

// A thread's access. The warp is numbered in the launch.
struct access_maker {
  std::uint32_t warp;
  int lane;
  std::uint32_t site;
  tick when;
};

struct bulk_load {
  std::uint64_t first, end;  // bytes of shared memory
  std::uint64_t barrier;     // the mbarrier's offset there
  unsigned parity;           // of the phase in which the copy completes
  access_maker by;
  bool is_reported = false;  // a use before its end was found
  std::vector<phase_observation> seen;

  bool is_seen() const { return !seen.empty(); }
  bool overlaps(std::uint64_t at, std::uint64_t bytes) const {
    return first < at + bytes && at < end;
  }
  bool was_seen_by(std::uint32_t by_warp, int by_lane) const {
    return std::ranges::any_of(seen, [&](const phase_observation& s) {
      return s.warp == by_warp && ((s.lanes >> by_lane) & 1) != 0;
    });
  }
};

class bulk_loads {
 public:
  bool empty() const { return copies_.empty(); }
  void clear() { copies_.clear(); }

  // Adds a copy, and forgets copies that it overwrites. Returns an overwritten copy that no thread
  // has waited for, if there is one.
  std::optional<bulk_load> add(bulk_load copy);
  // A lane saw a phase of the mbarrier complete at the tick `when` of its warp. `parity` is the
  // parity of the next phase.
  void saw(std::uint64_t barrier, unsigned parity, std::uint32_t warp, int lane, tick when);
  // All threads of the block met at a barrier.
  void all_met();

  // A copy to these bytes that may be unfinished as far as a lane knows; null if there is none.
  // is_known(o): whether the observation by one of the lanes is ordered before the lane's access.
  template <class IsKnown>
  bulk_load* unfinished(std::uint64_t at, std::uint64_t bytes, std::uint32_t warp, int lane,
                        IsKnown is_known) {
    const auto found = std::ranges::find_if(copies_, [&](const bulk_load& c) {
      return c.overlaps(at, bytes) && !c.was_seen_by(warp, lane) &&
             !std::ranges::any_of(c.seen, is_known);
    });
    return found == copies_.end() ? nullptr : &*found;
  }
  // A copy that no thread has waited for and that was not reported; null if there is none.
  const bulk_load* unseen() const;

 private:
  std::vector<bulk_load> copies_;
};

}  // namespace stepwise::emulator
