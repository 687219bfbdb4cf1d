// What time it is for the kernels of a device: whose clocks follow the model, and where they begin.
//
// idea    A kernel that reads %clock or %clock64 is followed, in plain runs too. One that reads
//         only %globaltimer is followed where the host lays launches out in time: code that hardly
//         ever reads it is common (cuda::barrier waits with it), and following costs. Else it shows
//         the host's date, as events show the host's time, or in a watched run a nanosecond for
//         each warp instruction, so that runs repeat exactly. %globaltimer never goes back.
// Tested by profile/tests/kernel_clock_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/emulator/machine/observers.hpp"
#include "common/emulator/profile/kernel_clock.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

class kernel_time {
 public:
  // When the next launch begins, as set by the code that lays them out in time.
  void set(std::uint64_t ns) { set_ns_ = ns; }
  // What a launch has of it until its end.
  struct following {
    std::unique_ptr<kernel_clock> clock;  // null: the kernel is not followed
    observers all;                        // the clock and what watches the launch
  };
  // Before a grid's workers begin, and after all of them have ended. A kernel that is followed has
  // the clock beside what watches it already. Several launches may be between the two.
  void begin(launch_state& state, following& with);
  void end(launch_state& state, following& with);

 private:
  bool follows(const launch_state& state) const;

  std::uint64_t until_ns_ = 0;  // that kernels have seen
  std::optional<std::uint64_t> set_ns_;
  std::optional<std::uint64_t> origin_ns_;  // of cycles: where the first such launch began
  std::unique_ptr<kernel_clock> idle_;  // of a launch that has ended, with what is in its caches
};

}  // namespace stepwise::emulator
