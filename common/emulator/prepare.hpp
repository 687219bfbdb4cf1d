// Makes a loaded kernel ready to run.
#pragma once

#include "common/emulator/lower/lower.hpp"
#include "common/emulator/machine/modules.hpp"

namespace stepwise::emulator {

// Who watches the launches of a device whose observers are `all`, the checks among them. Either may
// be null.
inline watched_by watched_by_these(const observer* all, const void* checks) {
  return checks != nullptr ? watched_by::checks
         : all != nullptr  ? watched_by::profile
                           : watched_by::none;
}

// Lowers a kernel once, for these observers, or for a profile's if there are none and it reads a
// clock. Its static shared memory is then known even without machine code.
status prepare(loaded_kernel& k, const gpu& model, watched_by observers);

}  // namespace stepwise::emulator
