// The time of a warp: the clock that a kernel reads as %clock, %clock64 or %globaltimer.
#pragma once

#include <cstdint>

#include "common/emulator/machine/context.hpp"

namespace stepwise::emulator {

class warp_time {
 public:
  virtual ~warp_time() = default;

  // The time of a warp of the running block, after everything that it is known to have executed.
  // `at` is the op that reads the clock. Never less than the same warp's previous time.
  virtual std::uint64_t cycles(std::uint32_t warp, const op* at) = 0;
  virtual std::uint64_t nanoseconds(std::uint32_t warp, const op* at) = 0;
  // The warp sleeps.
  virtual void slept(std::uint32_t warp, std::uint32_t ns) = 0;
  // For a launch whose warps slept or waited for the clock, the time until now; otherwise 0.
  virtual double waited_us() const = 0;
};

}  // namespace stepwise::emulator
