// What time it is for a warp: the clock that answers a kernel that reads %clock, %clock64 or
// %globaltimer.
#pragma once

#include <cstdint>

#include "common/emulator/machine/context.hpp"

namespace stepwise::emulator {

class warp_time {
 public:
  virtual ~warp_time() = default;

  // A warp of the running block, after all that it is known to have executed; `at` is the op that
  // asks. Never less than the same warp's previous answer.
  virtual std::uint64_t cycles(std::uint32_t warp, const op* at) = 0;
  virtual std::uint64_t nanoseconds(std::uint32_t warp, const op* at) = 0;
  // The warp sleeps.
  virtual void slept(std::uint32_t warp, std::uint32_t ns) = 0;
  // For a launch whose warps slept or waited for the clock, the time until now; else 0.
  virtual double waited_us() const = 0;
};

}  // namespace stepwise::emulator
