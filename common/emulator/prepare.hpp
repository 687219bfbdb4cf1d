// Makes a loaded kernel ready to run.
#pragma once

#include "common/emulator/machine/modules.hpp"

namespace stepwise::emulator {

// Lowers a kernel once; its static shared memory is then known even without machine code.
status prepare(loaded_kernel& k, const gpu& model, bool watched);

}  // namespace stepwise::emulator
