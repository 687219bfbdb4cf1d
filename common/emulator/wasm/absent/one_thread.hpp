// Replaces the parts of libc++ that need threads: one thread does all work immediately.
#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
namespace std {
struct mutex {
  void lock() {}
  bool try_lock() { return true; }
  void unlock() {}
};
struct condition_variable {
  void notify_all() {}
  template <class Lock, class Predicate>
  void wait(Lock&, Predicate) {}
  template <class Lock, class Duration>
  void wait_for(Lock&, Duration) {}
};
namespace this_thread {
inline void yield() {}
}  // namespace this_thread
struct thread {
  static unsigned hardware_concurrency() { return 1; }
};
struct jthread {
  jthread() = default;
  template <class F>
  explicit jthread(F f) {
    f();
  }
};
enum class launch { async };
template <class T>
struct future {
  optional<T> value;
  bool valid() const { return value.has_value(); }
  T get() { return *exchange(value, nullopt); }
};
template <class F>
auto async(launch, F f) {
  return future<decltype(f())>{f()};
}
}  // namespace std
