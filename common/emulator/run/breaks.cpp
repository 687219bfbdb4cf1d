// A worker rests, leaves or yields between two rounds of a block.
#include "common/emulator/run/breaks.hpp"

#include <thread>

namespace stepwise::emulator {
namespace {

// The interval at which a worker reads the clock: in rounds if the launch polls, otherwise in warp
// instructions, which are counted anyway.
constexpr unsigned rounds_between_looks = 16;
constexpr std::uint64_t instructions_between_looks = 1 << 20;

}  // namespace

bool idle_watch::leaves(launch_breaks& breaks, bool idle, std::uint64_t polls,
                        std::uint64_t warp_instructions) {
  if (!idle) idle_since_ = {};
  if (polls == 0) {
    if (!may_leave_ || warp_instructions < next_look_) return false;
    next_look_ = warp_instructions + instructions_between_looks;
    return breaks.is_due(steady::now(), {});
  }
  if (++rounds_ % rounds_between_looks != 0) return false;
  breaks.note_poll();
  const auto now = steady::now();
  if (idle && idle_since_ == steady::time_point{}) idle_since_ = now;
  if (may_leave_) return breaks.is_due(now, idle_since_);
  // In a launch that was left, the host or another kernel needs the CPU more than a waiting kernel.
  if (idle && breaks.is_left()) std::this_thread::yield();
  return false;
}

bool idle_watch::is_idle_for(steady::duration limit, bool idle) {
  if (!idle) idle_since_ = {};
  if (!idle || ++rounds_ % rounds_between_looks != 0) return false;
  const auto now = steady::now();
  if (idle_since_ == steady::time_point{}) idle_since_ = now;
  return now - idle_since_ >= limit;
}

}  // namespace stepwise::emulator
