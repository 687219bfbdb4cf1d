// Matrix fragments: loads, stores and products of a whole warp.
#include "common/emulator/exec/rows.hpp"

namespace stepwise::emulator {

void matrix_rows(row_table&) {}

}  // namespace stepwise::emulator
