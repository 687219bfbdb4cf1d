// Arithmetic on several small integers in one register.
#include "common/emulator/exec/rows.hpp"

namespace stepwise::emulator {

void packed_rows(row_table&) {}

}  // namespace stepwise::emulator
