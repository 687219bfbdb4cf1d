// The row of textures and surfaces, which few programs use.
#pragma once

#include "common/emulator/rows/row.hpp"

namespace stepwise::emulator {

void texture_rows(row_table& table);  // tex, tld4, txq, suld, sust, suq

}  // namespace stepwise::emulator
