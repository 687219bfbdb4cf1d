// What libc++ leaves out where there are no threads: one thread does everything, at once.
#pragma once
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
