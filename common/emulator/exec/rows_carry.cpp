// Additions and multiplications with a carry, for integers of several words.
#include "common/emulator/exec/rows.hpp"

namespace stepwise::emulator {

void carry_rows(row_table&) {}

}  // namespace stepwise::emulator
