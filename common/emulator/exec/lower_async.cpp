// Lowering: asynchronous copies and barriers in shared memory.
#include "common/emulator/exec/lowering.hpp"

namespace stepwise::emulator {

void lowering::async_copy() { throw unsupported{"the instruction " + text()}; }
void lowering::memory_barrier() { throw unsupported{"the instruction " + text()}; }

}  // namespace stepwise::emulator
