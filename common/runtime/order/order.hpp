// The queue of work that has to wait for kernels that still run.
//
// idea    As long as every kernel ends before its launch returns, the queue is empty and each call
//         does its work at once. A kernel that waits may be left running (device.hpp). Work that
//         CUDA orders after such a kernel is queued as a function, and runs after all earlier work.
// source  CUDA C++ Programming Guide, "Streams", "Default Stream", "Events".
// tests   ../tests/order_test.cpp, ../conformance/beside/
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise::runtime {

// Not thread-safe. The caller holds the lock that it passes to advance().
class stream_order {
 public:
  using work = std::function<status()>;
  using clock = std::chrono::steady_clock;

  // True if no work is outstanding, which is the usual case.
  bool empty() const { return items_.empty(); }
  // Whether work that is submitted to a stream now has to wait.
  bool must_wait(const stream_use& stream) const;

  // Adds a kernel of a stream that was left running, by its launch number.
  void add_running(const stream_use& stream, std::uint64_t launch);
  // Adds work to a stream, after everything that it has to wait for. `outside`: one of the
  // program's functions, which may run for a long time.
  void add(const stream_use& stream, work what, bool outside = false);
  // Adds a point to a stream, and returns its number, which is above 0. The point is reached after
  // all earlier work and then `what`, if any. If the stream need not wait, returns 0 and does
  // nothing.
  std::uint64_t mark(const stream_use& stream, work what = {});
  // Work submitted to a stream from now on waits until `holds` returns true. `holds` is polled
  // after all earlier work is done.
  using condition = std::function<status(bool&)>;
  void wait_until(const stream_use& stream, condition holds);
  bool waits_for_conditions() const;
  // Work submitted to a stream from now on begins at this time or later, unless it is hurried.
  void hold(const stream_use& stream, clock::time_point until);
  // Called when the host waits for a point or queries it. Stops holding all work before the point.
  void hurry(std::uint64_t point);
  // These stop holding all work that was submitted to a stream, or to every stream.
  void hurry(const stream_use& stream);
  void hurry_all();
  std::size_t size() const { return items_.size(); }
  // Work submitted to a stream from now on also waits for a point. `what`, if any, runs when the
  // point is reached. Does nothing if the point has already been reached.
  void wait(const stream_use& stream, std::uint64_t point, work what = {});
  // Whether a point has not been reached yet. False for 0.
  bool is_outstanding(std::uint64_t point) const;
  // The point at which all work submitted up to now is done.
  std::uint64_t last() const { return last_number_; }
  bool is_outstanding_up_to(std::uint64_t point) const {
    return !items_.empty() && items_.front().number <= point;
  }

  // Runs all work that is ready, on a device that may leave kernels running. Calls the program's
  // functions only if `outside_too` is set, and releases the held `lock` during these calls. If the
  // device or the work fails, drops all outstanding work, as a GPU does.
  status advance(device& on, std::mutex& lock, bool outside_too);
  // Forgets everything.
  void clear() { items_.clear(); }

 private:
  struct item {
    std::uint64_t number = 0;
    stream_use stream;
    std::uint64_t launch = 0;  // of a kernel left running, or 0
    std::vector<std::uint64_t> after;
    condition until;  // if set, the item is done when this holds
    clock::time_point held_until;
    work what;
    bool outside = false, begun = false;
  };
  item& append(const stream_use& stream);
  item* find(std::uint64_t number);
  bool is_ready(const item& i) const;
  void hurry_with_all_before(std::set<std::uint64_t> numbers);
  // Null if no item is ready, or if a condition has failed.
  item* next_ready(bool outside_too, status& failed);

  std::vector<item> items_;  // in order of submission
  std::uint64_t last_number_ = 0;
  bool doing_ = false;  // running an item's work, with the lock held
};

}  // namespace stepwise::runtime
