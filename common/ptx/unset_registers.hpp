// Registers that an instruction may read before any instruction has written them.
//
// idea    A register may be unset if a path leads from the function's start to a read of the
//         register, and no instruction on the path writes it. A write with a guard does not count,
//         because it may leave the register unchanged. nvcc emits such a register for a local
//         variable that the source does not initialise on every path.
// watch   The path may be one that no thread ever takes.
//         Tested by tests/unset_registers_test.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

// The registers that an instruction writes. A vector and a pair have several.
std::vector<std::string_view> names_written(const ptx::instruction& i);
// The names that an instruction reads, including its guard.
std::vector<std::string_view> names_read_by(const ptx::instruction& i);

// The names that may be read before they are written, in the order of the first such read in the
// text. They may include names of variables, labels and special registers. Empty if the search
// would take many times longer than reading the body.
std::vector<std::string_view> names_read_before_written(const ptx::body& body,
                                                        const control_flow& flow);

}  // namespace stepwise::emulator
