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
#include <functional>
#include <memory>
#include <optional>

#include "common/emulator/profile/kernel_clock.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

class kernel_time {
 public:
  // When the next launch begins, as set by the code that lays them out in time.
  void set(std::uint64_t ns) { told_ns_ = ns; }
  // Does `run` for a launch, and ends it for all observers; a kernel that is followed has the clock
  // beside what watches it already.
  void launch(launch_state& state, const std::function<void(launch_state&)>& run);

 private:
  bool follows(const launch_state& state) const;

  std::uint64_t until_ns_ = 0;  // that kernels have seen
  std::optional<std::uint64_t> told_ns_;
  std::unique_ptr<kernel_clock> clock_;  // made for the first such kernel
};

}  // namespace stepwise::emulator
