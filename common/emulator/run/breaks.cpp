// The part of the scheduler that looks up between two rounds of a block: a worker rests, leaves,
// yields, or says that its launch waits.
#include "common/emulator/run/breaks.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "common/emulator/machine/standstill.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {
namespace {

// At the clock: of a launch that polls, and of one that does not, which knows its warps'
// instructions without it.
constexpr unsigned rounds_between_looks = 16;
constexpr std::uint64_t instructions_between_looks = 1 << 20;

}  // namespace

// While the host changes what workers read. Allocations may have gone then.
void scheduler::rest() {
  launch_.breaks->wait_while_paused();
  std::ranges::fill(windows_, access_window{});
}

// Between two rounds of a block, which did nothing but poll if it is idle. True: this thread leaves
// the launch.
bool scheduler::take_break(bool idle) {
  launch_breaks& breaks = *launch_.breaks;
  if (breaks.paused()) rest();
  if (!idle) idle_since_ = {};
  if (x_.polls == 0) {
    if (!asked_here_ || counters_.warp_instructions < next_look_) return false;
    next_look_ = counters_.warp_instructions + instructions_between_looks;
    return breaks.is_due(launch_breaks::steady::now(), {});
  }
  if (++rounds_ % rounds_between_looks != 0) return false;
  breaks.note_poll();
  const auto now = launch_breaks::steady::now();
  if (idle && idle_since_ == launch_breaks::steady::time_point{}) idle_since_ = now;
  if (asked_here_) return breaks.is_due(now, idle_since_);
  // Of a launch that was left: the host, or another kernel, needs the CPU more than who waits.
  if (idle && breaks.is_left()) std::this_thread::yield();
  return false;
}

// The same of a launch that cannot be left.
void scheduler::tell_of_wait(bool idle) {
  if (!idle) idle_since_ = {};
  if (!idle || ++rounds_ % rounds_between_looks != 0) return;
  const auto now = launch_breaks::steady::now();
  if (idle_since_ == launch_breaks::steady::time_point{}) idle_since_ = now;
  if (now - idle_since_ < launch_.patience.duration() || !launch_.tells_of_wait.exchange(false))
    return;
  std::fprintf(
      stderr,
      "stepwise: %s has only polled for %s: %s. While a program is checked, counted, timed "
      "or recorded, its kernels run one after the other. A kernel that waits for a later "
      "kernel or copy, or for the thread that launched it, does not end; set "
      "STEPWISE_TIME_LIMIT_S to stop it.\n",
      code_.pretty.c_str(), launch_.patience.text().c_str(), words_of(stand()).c_str());
}

}  // namespace stepwise::emulator
