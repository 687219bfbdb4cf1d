// The bulk copies to a block's shared memory, and which of its threads have waited for them.
//
// idea    The emulator completes a bulk copy at once, so a thread reads the right data even if it
//         does not wait. Here a copy counts as unfinished until a thread has seen the phase of the
//         copy's mbarrier complete. A lane knows that if it saw the phase itself, or if another
//         lane's observation is ordered before the running access: by a barrier, by __syncwarp, by
//         a flag with fences, or by another mbarrier (order.hpp).
// tests   ../tests/unfollowed_test.cpp
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/emulator/check/order.hpp"

namespace stepwise::emulator {

struct op;

// The range of shared memory that an op wrote last. If the op is a bulk copy, its arrival at an
// mbarrier follows.
struct written_range {
  const op* at = nullptr;
  std::uint32_t warp = 0;
  int lane = 0;
  std::uint64_t first = 0, bytes = 0;
};

class bulk_loads {
 public:
  bool empty() const { return copies_.empty(); }
  void clear() { copies_.clear(); }

  // Adds a copy that completes in the phase of `parity` of this mbarrier. Returns false if it
  // overwrites a copy that no thread has waited for.
  bool add(std::uint64_t at, std::uint64_t bytes, std::uint64_t barrier, unsigned parity);
  // A lane saw a phase of the mbarrier complete at the tick `when` of its warp. `parity` is the
  // parity of the next phase.
  void saw(std::uint64_t barrier, unsigned parity, std::uint32_t warp, int lane, tick when);
  // All threads of the block met at a barrier.
  void all_met();

  // The lanes of a warp that saw a copy's phase complete, and when.
  struct observation {
    std::uint32_t warp, lanes;
    tick when;
  };
  // Whether a lane knows that every copy to these bytes has finished. is_known(o): whether the
  // observation by one of the lanes is ordered before the lane's access.
  template <class IsKnown>
  bool knows(std::uint64_t at, std::uint64_t bytes, std::uint32_t warp, int lane,
             IsKnown is_known) const {
    return std::ranges::none_of(copies_, [&](const copy& c) {
      const bool overlaps = c.first < at + bytes && at < c.end;
      return overlaps && !c.was_seen_by(warp, lane) && !std::ranges::any_of(c.seen, is_known);
    });
  }
  // Whether there is a copy that no thread waited for.
  bool any_unseen() const;

 private:
  struct copy {
    std::uint64_t first, end, barrier;
    unsigned parity;
    std::vector<observation> seen;
    bool is_seen() const { return !seen.empty(); }
    bool was_seen_by(std::uint32_t warp, int lane) const {
      return std::ranges::any_of(seen, [&](const observation& s) {
        return s.warp == warp && ((s.lanes >> lane) & 1) != 0;
      });
    }
  };
  std::vector<copy> copies_;
};

}  // namespace stepwise::emulator
