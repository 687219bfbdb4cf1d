// Asynchronous copies and the barriers in shared memory that wait for them.
#include "common/emulator/exec/rows.hpp"

namespace stepwise::emulator {

void async_rows(row_table&) {}

}  // namespace stepwise::emulator
