// Holds back the work of a GPU's queue until all of it is there.
//
// idea    The queue waits for a word in memory of the host's. So nothing that delays the host while
//         it launches (another process on its core, a busy machine) lies between two events that
//         are recorded while the gate is closed.
// watch   A call of the driver's that waits for the GPU would wait for ever: after `longest` the
//         gate opens by itself.
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

  // The device's context is current while this is constructed, destroyed and closed.
  explicit queue_gate(const driver& cu);
  ~queue_gate();
  queue_gate(const queue_gate&) = delete;

  // Work that is queued from now on waits. Does nothing on a GPU that cannot wait for a word.
  void close();
  void open();

 private:
  void store(std::uint32_t value);
  void open_in_time(std::stop_token stop);

  const driver& cu_;
  std::uint32_t* word_ = nullptr;  // a page, known to the GPU; null: it has none
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_closed_ = false;
  std::chrono::steady_clock::time_point opens_at_;
  std::jthread watchdog_;
};

}  // namespace stepwise
