// Makes a loaded kernel ready to run.
#pragma once

#include "common/emulator/lower/lower.hpp"
#include "common/emulator/machine/modules.hpp"

namespace stepwise::emulator {

// The observers of a device's launches: `all` observers, and the checks, which are one of them.
// Both pointers may be null.
inline watched_by watched_by_these(const observer* all, const void* checks) {
  return checks != nullptr ? watched_by::checks
         : all != nullptr  ? watched_by::profile
                           : watched_by::none;
}

// Lowers a kernel once for these observers. If there are no observers and the kernel reads a clock,
// lowers it for a profile's observers. Its static shared memory is then known even without machine
// code.
status prepare(loaded_kernel& k, const gpu& model, watched_by observers);

}  // namespace stepwise::emulator
