// The points between two slices where the workers of a launch stop. Workers pause so that the host
// may change data that they read. The thread that asked for the launch may leave it for good, so
// that it can do other work while kernels wait for that work.
//
// idea    Only a launch that may be left has a launch_breaks; all others run as they would without.
//         Its state changes at slices only.
//         Tested by tests/left_launches_test.cpp and common/runtime/conformance/beside.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace stepwise::emulator {

class launch_breaks {
 public:
  using steady = std::chrono::steady_clock;
  // The thread that asked for a launch leaves it after `longest_idle` in which its blocks did
  // nothing but poll, or after `longest_stay` if the launch has polled at all.
  static constexpr std::chrono::milliseconds longest_idle{20}, longest_stay{250};

  // The thread leaves a launch that has not polled after `longest_work`.
  launch_breaks(unsigned workers, steady::duration longest_work)
      : longest_work_(longest_work), active_(workers) {}

  // --- for workers

  void note_poll() { polled_.store(true, std::memory_order_relaxed); }
  bool has_polled() const { return polled_.load(std::memory_order_relaxed); }
  bool paused() const { return paused_.load(std::memory_order_relaxed); }
  // Returns when resume() is called.
  void wait_while_paused() {
    std::unique_lock lock(mutex_);
    ++resting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !paused(); });
    --resting_;
  }
  // A worker has finished its work.
  void worker_ended() {
    const std::lock_guard lock(mutex_);
    --active_;
    changed_.notify_all();
  }
  // Whether the thread that asked for the launch leaves it now. `idle_since`: when its blocks began
  // to do nothing but poll, or zero.
  bool is_due(steady::time_point now, steady::time_point idle_since) const {
    if (is_left()) return false;
    if (!has_polled()) return now - began_ >= longest_work_;
    return now - began_ >= longest_stay ||
           (idle_since != steady::time_point{} && now - idle_since >= longest_idle);
  }

  // --- for the thread that asked for the launch

  bool is_left() const { return left_.load(std::memory_order_relaxed); }
  void leave() { left_.store(true, std::memory_order_relaxed); }
  bool ended() const {
    const std::lock_guard lock(mutex_);
    return active_ == 0;
  }
  // Called after its own worker has ended. True if all have ended, false if the thread must leave.
  bool wait_for_others() {
    std::unique_lock lock(mutex_);
    while (active_ != 0) {
      changed_.wait_for(lock, longest_idle);
      if (active_ != 0 && is_due(steady::now(), {})) return false;
    }
    return true;
  }
  // Returns when no worker runs. The workers pause until resume().
  void pause() {
    std::unique_lock lock(mutex_);
    paused_.store(true, std::memory_order_relaxed);
    changed_.wait(lock, [&] { return resting_ == active_; });
  }
  void resume() {
    const std::lock_guard lock(mutex_);
    paused_.store(false, std::memory_order_relaxed);
    changed_.notify_all();
  }

 private:
  const steady::time_point began_ = steady::now();
  const steady::duration longest_work_;
  std::atomic<bool> polled_{false}, paused_{false}, left_{false};
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  unsigned active_, resting_ = 0;
};

// Measures for how long a worker's blocks have done nothing but poll. It reads the clock now and
// then, between two rounds of a block.
class idle_watch {
 public:
  using steady = std::chrono::steady_clock;

  // `may_leave`: the thread may leave the launch.
  void begin(bool may_leave) { may_leave_ = may_leave; }
  void block_ended() { idle_since_ = {}; }
  // Called after a round, which only polled if `idle`. Returns whether the thread leaves now.
  bool leaves(launch_breaks& breaks, bool idle, std::uint64_t polls,
              std::uint64_t warp_instructions);
  // Like leaves(), for a launch that cannot be left: returns whether it has only polled for
  // `limit`.
  bool is_idle_for(steady::duration limit, bool idle);

 private:
  bool may_leave_ = false;
  unsigned rounds_ = 0;
  std::uint64_t next_look_ = 0;  // when to read the clock, in warp instructions
  // When the rounds that only polled began; zero if the last round did more.
  steady::time_point idle_since_{};
};

}  // namespace stepwise::emulator
