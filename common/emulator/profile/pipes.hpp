// Which part of a multiprocessor executes a PTX instruction.
//
// watch   A model: one PTX instruction may become several machine instructions for several pipes
//         (a division), or none. It is what the instruction asks for, not what ptxas made of it.
// Tested by tests/profiler_test.cpp.
#pragma once

#include "common/device/profile.hpp"
#include "common/emulator/ptx/ast.hpp"

namespace stepwise::emulator {

pipe pipe_of(const ptx::instruction& i);
bool is_branch(const ptx::instruction& i);  // bra and brx

}  // namespace stepwise::emulator
