// Lowering: calls.
#include "common/emulator/exec/lowering.hpp"

namespace stepwise::emulator {

void lowering::call() { throw unsupported{"the instruction " + text()}; }

}  // namespace stepwise::emulator
