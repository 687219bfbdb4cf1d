// Handles a signal that ends the program, but only after the running kernel has been stopped and
// everything known about it has been reported.
//
// idea    The handler only sets `signal`. The thread that runs a launch checks it between slices,
//         stops the launch, and calls `finish` at a point where it may lock and allocate.
// watch   The handler sets `signal` before it reads `launches`. A launch decrements `launches`
//         before it reads `signal`. Therefore either the handler or the launch ends the program.
//         Tested by common/runtime/tests/signals_test.py.
#pragma once

#include <atomic>
#include <string>

namespace stepwise {

struct interruption {
  std::atomic<int> signal{0};    // 0: none
  std::atomic<int> launches{0};  // running launches that check `signal`
  // Reports why the launch was stopped, and ends the program. Null: nothing sets `signal`.
  std::atomic<void (*)(const std::string& why)> finish{nullptr};

  // Counts a launch that checks `signal`, for the object's lifetime.
  class looking_launch {
   public:
    explicit looking_launch(interruption& of) : of_(of) { ++of_.launches; }
    ~looking_launch() { --of_.launches; }
    looking_launch(const looking_launch&) = delete;
    looking_launch& operator=(const looking_launch&) = delete;

   private:
    interruption& of_;
  };
};

// The interruption of this process.
inline interruption interrupted;

}  // namespace stepwise
