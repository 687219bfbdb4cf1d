// Holds the work in a GPU's queue until all of it is queued.
//
// idea    The queue waits for a word in host memory. A delay of the host while it launches (another
//         process on its core, a busy machine) therefore does not affect the time between two
//         events that are recorded while the gate is closed.
// watch   A driver call that waits for the GPU would wait forever, so the gate opens by itself
//         after `longest`.
// Tested on a GPU by grader/tests/gpu/judged_gpu_test.cpp.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "common/device/driver.hpp"

namespace stepwise {

class queue_gate {
 public:
  static constexpr std::chrono::milliseconds longest{20};

  // The device's context must be current in the constructor, the destructor and close().
  explicit queue_gate(const driver& cu);
  ~queue_gate();
  queue_gate(const queue_gate&) = delete;

  // Makes work queued from now on wait. Does nothing on a GPU that cannot wait for a word.
  void close();
  void open();

 private:
  void store(std::uint32_t value);
  void open_in_time(std::stop_token stop);

  const driver& cu_;
  std::uint32_t* word_ = nullptr;  // in a registered page, or null
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_closed_ = false;
  std::chrono::steady_clock::time_point opens_at_;
  std::jthread watchdog_;
};

}  // namespace stepwise
