// Which part of a multiprocessor executes a PTX instruction.
//
// watch   A model: one PTX instruction may become several machine instructions for several pipes
//         (a division), or none. It is what the instruction asks for, not what ptxas made of it.
// Tested by tests/profiler_test.cpp.
#pragma once

#include "common/ptx/ast.hpp"
#include "common/report/profile.hpp"

namespace stepwise::emulator {

pipe pipe_of(const ptx::instruction& i);
bool is_branch(const ptx::instruction& i);  // bra and brx

}  // namespace stepwise::emulator
