// A block run by itself, before its launch, to see how much it does.
//
// idea    Lanes pass over what writes to global memory, so that the launch finds it as it was. A
//         block that fails so, or that reads what it should have written, has done what it has.
// watch   Bulk copies to global memory are done: they write what the launch writes again.
// Tested by ../time/tests/timer_test.cpp and the test "lab times".
#pragma once

#include <cstdint>

#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

// Whether a block can be: not if the kernel prints, allocates, or reads a clock that is modelled.
bool can_run_apart(const launch_state& launch);

// PTX instructions of its warps, and eight more for each request to global memory; at `enough` it
// is cut short.
std::uint64_t work_of_block(const launch_state& launch, std::uint64_t block, std::uint64_t enough);

}  // namespace stepwise::emulator
