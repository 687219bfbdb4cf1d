// A signal that shall end the program once the kernel that runs has been stopped and all that is
// known of it is said.
//
// idea    A handler only sets `signal`. The thread that runs a launch looks at it between two
// slices,
//         stops the launch, and calls `finish` where it may lock and allocate.
// watch   The handler sets `signal` before it reads `launches`; a launch counts itself down before
// it
//         reads `signal`. So one of the two ends the program.
//         Tested by common/runtime/tests/signals_test.py.
#pragma once

#include <atomic>
#include <string>

namespace stepwise {

struct interruption {
  std::atomic<int> signal{0};    // 0: none
  std::atomic<int> launches{0};  // that run and look at it
  // Reports why the launch was stopped, and ends the program; null: nothing sets `signal`.
  std::atomic<void (*)(const std::string& why)> finish{nullptr};

  // A launch that looks at it.
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

// Of this process.
inline interruption interrupted;

}  // namespace stepwise
