// Makes a loaded kernel ready to run.
#pragma once

#include "common/emulator/machine/modules.hpp"

namespace stepwise::emulator {

// Lowers a kernel once, for observers if it is to be watched or reads a clock. Its static shared
// memory is then known even without machine code.
status prepare(loaded_kernel& k, const gpu& model, bool watched);

}  // namespace stepwise::emulator
