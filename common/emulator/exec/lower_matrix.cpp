// Lowering: operations on matrix fragments.
#include "common/emulator/exec/lowering.hpp"

namespace stepwise::emulator {

void lowering::matrix() { throw unsupported{"the instruction " + text()}; }

}  // namespace stepwise::emulator
