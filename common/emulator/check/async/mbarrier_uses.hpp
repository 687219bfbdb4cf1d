// What the threads and copies of a launch do at a block's mbarriers, for messages and advice.
//
// idea    A wait by parity returns at once if the phase that it waits for has already ended. If no
//         phase has ended yet, or if the same thread has already waited for that phase, the parity
//         may be wrong. For each thread, the last run of such waits is kept.
// watch   Such a wait may be right: a producer's first waits find its stages free. Its results
//         only word messages.
//         Tested by ../tests/mbarrier_uses_test.cpp.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/emulator/check/order.hpp"
#include "common/emulator/machine/observer.hpp"

namespace stepwise::emulator {

class mbarrier_uses {
 public:
  struct phase {
    std::uint64_t number = 0;  // of phases that have ended
    std::uint64_t seen = 0;    // the highest number at which a thread's wait returned
    std::int64_t announced = 0, received = 0;  // bytes
  };
  // A run of waits of a thread that returned at once: either no phase of the mbarrier had ended
  // yet, or none since the thread's previous wait for it (is_repeated).
  struct idle_waits {
    std::uint64_t barrier = 0;  // of the first of these waits
    bool is_repeated = false;
    tick from = 0, until = 0;  // from = 0: there is no such wait; until = 0: the last wait was one
  };

  void begin_block(std::uint32_t warps);
  // `barrier`: its offset in the block's shared memory.
  void note(const observer::mbarrier_event& m, std::uint64_t barrier, std::uint32_t warp, tick now);
  // The phase of an mbarrier that has this word now.
  phase at(std::uint64_t barrier, std::uint64_t word) const;
  // The thread's idle waits, if its last wait before `when` was one of them; otherwise null.
  const idle_waits* before(std::uint32_t warp, int lane, tick when) const;

 private:
  struct state {
    phase in(std::uint64_t word) const;  // what `now` is after the last event

    phase now;
    unsigned parity = 0;
    std::vector<std::uint64_t> passed;  // by thread: the phase's number at its last wait, plus 1
  };

  std::uint32_t threads_ = 0;
  std::unordered_map<std::uint64_t, state> barriers_;  // by offset
  std::vector<idle_waits> idle_;                       // by thread
};

}  // namespace stepwise::emulator
