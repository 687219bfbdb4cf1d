// The bulk copies to a block's shared memory, and which of its threads have waited for them.
//
// idea    The emulator completes a bulk copy at once, so a thread reads the right data even if it
//         does not wait. Here a copy counts as unfinished until a thread has seen the phase of the
//         copy's mbarrier complete. A lane learns this if it sees the phase itself, or meets a lane
//         that knows it, at __syncwarp or at a barrier of the whole block.
// watch   Threads can also learn it from others through flags or further mbarriers. That is not
//         followed: the answer is then "does not know", which must not be called a mistake.
// tests   ../tests/unfollowed_test.cpp
#pragma once

#include <cstdint>
#include <vector>

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
  // A lane saw a phase of the mbarrier complete. `parity` is the parity of the next phase.
  void saw(std::uint64_t barrier, unsigned parity, std::uint32_t warp, int lane);
  // Lanes of a warp met at __syncwarp; all threads of the block met at a barrier.
  void met(std::uint32_t warp, std::uint32_t lanes);
  void all_met();

  // Whether a lane knows that every copy to these bytes has finished.
  bool knows(std::uint64_t at, std::uint64_t bytes, std::uint32_t warp, int lane) const;
  // Whether there is a copy that no thread waited for.
  bool any_unseen() const;

 private:
  struct copy {
    std::uint64_t first, end, barrier;
    unsigned parity;
    std::vector<std::uint32_t> seen;  // lanes, by warp
    bool is_seen() const;
  };
  std::vector<copy> copies_;
};

}  // namespace stepwise::emulator
