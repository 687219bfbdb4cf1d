// Work that comes after kernels which still run: what each stream has to wait for, and when it is
// done.
//
// idea    As long as every kernel ends before its launch returns there is nothing here, and each
//         call does its work at once. A kernel that waits may be left running (device.hpp); then
//         work that CUDA orders after it is kept as a function, and done when its turn has come.
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

// One thread at a time uses it: the lock of advance() guards it.
class stream_order {
 public:
  using work = std::function<status()>;
  using clock = std::chrono::steady_clock;

  // True if every call's work is done: the usual case.
  bool empty() const { return items_.empty(); }
  // Whether work that is submitted to a stream now has to wait.
  bool must_wait(const stream_use& stream) const;

  // A kernel of a stream that was left running, by its number.
  void add_running(const stream_use& stream, std::uint64_t launch);
  // Work of a stream, after all that it has to wait for. `outside`: a function of the program's,
  // which may take its time.
  void add(const stream_use& stream, work what, bool outside = false);
  // A point in a stream that is reached when `what`, if any, has been done after all work before
  // it: its number, above 0; or 0, and nothing is done, if the stream does not have to wait.
  std::uint64_t mark(const stream_use& stream, work what = {});
  // What a stream is asked for from now on comes after `holds` has said so, which is asked again
  // and again when all before it is done.
  using condition = std::function<status(bool&)>;
  void wait_until(const stream_use& stream, condition holds);
  bool waits_for_conditions() const;
  // Work submitted to a stream from now on begins at this time or later, unless it is hurried.
  void hold(const stream_use& stream, clock::time_point until);
  // The host waits for a point, or queries it: nothing before it is held any longer.
  void hurry(std::uint64_t point);
  // The same for all work that was submitted to a stream, or to every stream.
  void hurry(const stream_use& stream);
  void hurry_all();
  std::size_t size() const { return items_.size(); }
  // What a stream is asked for from now on comes after a point, too.
  // `what`, if any, is done when it has been reached; nothing where it has been.
  void wait(const stream_use& stream, std::uint64_t point, work what = {});
  // Whether a point is still to be reached; never for 0.
  bool is_outstanding(std::uint64_t point) const;
  // The point at which all is done that was asked for up to now.
  std::uint64_t last() const { return last_number_; }
  bool is_outstanding_up_to(std::uint64_t point) const {
    return !items_.empty() && items_.front().number <= point;
  }

  // Does what can be done now on a device whose launches may be left. Functions of the program's
  // are called only if `outside_too` is set; `lock`, which is held, is released meanwhile. A
  // failure of the device or of the work: then nothing is outstanding any more, as on a GPU.
  status advance(device& on, std::mutex& lock, bool outside_too);
  // Forgets everything.
  void clear() { items_.clear(); }

 private:
  struct item {
    std::uint64_t number = 0;
    stream_use stream;
    std::uint64_t launch = 0;  // that runs, if it is one
    std::vector<std::uint64_t> after;
    condition until;  // if any: it is done then, and not before
    clock::time_point held_until;
    work what;
    bool outside = false, begun = false;
  };
  item& append(const stream_use& stream);
  item* find(std::uint64_t number);
  bool is_ready(const item& i) const;
  void hurry_with_all_before(std::set<std::uint64_t> numbers);
  // Null: nothing can be done now, or a condition has failed.
  item* next_ready(bool outside_too, status& failed);

  std::vector<item> items_;  // in the order in which they were asked for
  std::uint64_t last_number_ = 0;
  bool doing_ = false;  // an item's work, with the lock held
};

}  // namespace stepwise::runtime
