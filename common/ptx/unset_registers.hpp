// Registers that an instruction may read before any instruction has written them.
//
// idea    A register is one of these if a path leads from the function's start to a read of it and
//         no instruction on the path writes it. A write with a guard does not count as one, since
//         it may leave the register as it was. nvcc emits such a register for a local variable that
//         the source does not initialise on every path.
// watch   The path may be one that no thread takes.
//         Tested by tests/unset_registers_test.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

// The registers that an instruction writes. A vector and a pair have several.
std::vector<std::string_view> names_written(const ptx::instruction& i);
// The names that it reads, its guard among them.
std::vector<std::string_view> names_read_by(const ptx::instruction& i);

// In the order of the first such read in the text. Names of variables, labels and special registers
// may be among them. Empty if the search would take many times longer than reading the body.
std::vector<std::string_view> names_read_before_written(const ptx::body& body,
                                                        const control_flow& flow);

}  // namespace stepwise::emulator
