// Lowers PTX to a program of operations.
//
// Tested by tests/ and by the opcode tests.
#pragma once

#include <memory>

#include "common/emulator/machine/program.hpp"

namespace stepwise::emulator {

// The observers of a program: none; a profiler, timer or recorder; or the checks, which also follow
// values that are not set.
enum class watched_by : std::uint8_t { none, profile, checks };

// Lowers a kernel and the functions that it calls. Fails with not_supported, naming the
// instruction, the function and the source line, for anything that the emulator does not implement,
// and with invalid_ptx if the PTX does not parse.
result<std::unique_ptr<program>> lower(const link_unit& unit, const linked_function& kernel,
                                       watched_by observers);

}  // namespace stepwise::emulator
