// Arithmetic of f16 and bf16, and of pairs of them in a register.
#include "common/emulator/exec/rows.hpp"

namespace stepwise::emulator {

void half_rows(row_table&) {}

}  // namespace stepwise::emulator
