// Lowers PTX to a program of operations.
//
// Tested by tests/ and by the opcode tests.
#pragma once

#include <memory>

#include "common/emulator/machine/program.hpp"

namespace stepwise::emulator {

// Lowers a kernel and the functions that it calls; `watched`: for observers. Fails with
// not_supported, naming the instruction, the function and the source line, for anything that the
// emulator does not implement, and with invalid_ptx if the PTX does not parse.
result<std::unique_ptr<program>> lower(const link_unit& unit, const linked_function& kernel,
                                       bool watched);

}  // namespace stepwise::emulator
