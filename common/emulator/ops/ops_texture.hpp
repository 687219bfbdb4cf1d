// The op of textures and surfaces, which few programs use.
#pragma once

#include "common/emulator/ops/op_entry.hpp"

namespace stepwise::emulator {

void texture_ops(op_table& table);  // tex, tld4, txq, suld, sust, suq

}  // namespace stepwise::emulator
