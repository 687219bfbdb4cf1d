// Starts the threads, lets them spin for a while before they sleep, and runs work on all of them.
#include "common/cpu/thread_team.hpp"

#include <system_error>

#include "common/cpu/cpu.hpp"

namespace stepwise::host {
namespace {

constexpr int looks = 4000;  // for work, before a thread sleeps: a few tenths of a millisecond

void pause_a_moment() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Waits until the value is no longer `old`, and returns the new value.
template <class Value>
Value wait_for_change(const std::atomic<Value>& value, Value old) {
  for (int look = 0; look < looks; ++look) {
    if (const Value now = value.load(std::memory_order_acquire); now != old) return now;
    pause_a_moment();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

thread_team::thread_team(int size) {
  others_.reserve(static_cast<std::size_t>(std::max(size, 1) - 1));
  for (int member = 1; member < size; ++member) {
    try {
      others_.emplace_back([this, member] { serve(member); });
    } catch (const std::system_error&) {  // the system has no more threads
      return;
    }
  }
}

thread_team::~thread_team() {
  body_ = nullptr;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

void thread_team::serve(int member) {
  for (std::uint32_t done = 0;;) {
    done = wait_for_change(round_, done);
    if (body_ == nullptr) return;
    (*body_)(member);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void thread_team::run(const std::function<void(int)>& body) {
  body_ = &body;
  busy_.store(static_cast<int>(others_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  body(0);
  for (int left; (left = busy_.load(std::memory_order_acquire)) != 0;) wait_for_change(busy_, left);
}

thread_team& all_threads() {
  static thread_team team(thread_count());
  return team;
}

}  // namespace stepwise::host
