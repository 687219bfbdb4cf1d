// Calls and returns, and the functions that the device runtime provides.
#include "common/emulator/exec/rows.hpp"

namespace stepwise::emulator {

void call_rows(row_table&) {}

}  // namespace stepwise::emulator
