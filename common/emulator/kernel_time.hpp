// Provides the time for kernels of a device: which clocks follow the model, and where they begin.
//
// idea    A kernel that reads %clock or %clock64 is followed, even in plain runs. A kernel that
//         reads only %globaltimer is followed if the host lays launches out in time. Other kernels
//         are not followed, because following costs time, and code that hardly ever reads
//         %globaltimer is common (cuda::barrier waits with it). In those kernels, %globaltimer is
//         the host's date, just as events show the host's time. In a watched run, %globaltimer
//         counts a nanosecond per warp instruction, so that runs repeat exactly. It never goes
//         back.
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
  // Sets the start of the next launch, for code that schedules launches in time.
  void set(std::uint64_t ns) { set_ns_ = ns; }
  // The state of a launch until its end.
  struct following {
    std::unique_ptr<kernel_clock> clock;  // null: the kernel is not followed
    observers all;                        // the clock, and the launch's other observers
  };
  // Called before a grid's workers begin, and after all of them have ended. In between, a followed
  // kernel has the clock as an additional observer. Several launches may overlap.
  void begin(launch_state& state, following& with);
  void end(launch_state& state, following& with);

 private:
  bool follows(const launch_state& state) const;

  std::uint64_t until_ns_ = 0;  // the latest time that kernels have seen
  std::optional<std::uint64_t> set_ns_;
  std::optional<std::uint64_t> origin_ns_;  // cycles count from here: the first followed launch
  std::unique_ptr<kernel_clock> idle_;      // a finished launch's clock, with its cache contents
};

}  // namespace stepwise::emulator
