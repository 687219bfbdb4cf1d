// Probes a block before its launch to find how much work it would do.
//
// idea    The block runs with an observer that counts instructions and skips every write to global
//         memory, so the launch finds memory unchanged. A block that fails under these conditions,
//         or reads what it should have written, counts as far as it ran.
// watch   Bulk copies to global memory bypass observers: kernels that have them are not probed.
// Tested by tests/launch_test.cpp and, through the time model, by ../time/tests/timer_test.cpp.
#pragma once

#include <cstdint>

#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

// False if a probe would have effects, or could not answer: the kernel prints, allocates, writes
// bulk copies, or reads a clock that is modelled.
bool can_probe(const launch_state& launch);

// The block stops when the total of its work reaches `enough`.
probed_work work_of_block(const launch_state& launch, std::uint64_t block, std::uint64_t enough);

}  // namespace stepwise::emulator
