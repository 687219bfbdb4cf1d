// What one access of a warp costs GPUs before compute capability 7.0, by their published rules.
//
// idea    1.x serves half-warps: of global memory in aligned segments that nothing keeps, of shared
//         memory in 16 banks with one word that is broadcast in a turn. 2.x loads whole lines. 3.x
//         has banks of 8 bytes.
// source  CUDA C Programming Guide 5.5, appendix G.3 to G.5. No such GPU was measured: what it
//         leaves open (which word is broadcast) is the lowest lane's here. Shared atomics are
//         counted as if the hardware had them; before 5.0 they were loops that take a lock.
// Tested by tests/older_requests_test.cpp.
#pragma once

#include <cstdint>

#include "common/device/memory_rules.hpp"
#include "common/emulator/profile/requests.hpp"

namespace stepwise::emulator {

// A global access, as touch() takes one of a newer GPU. A line may stand twice in `out`: once for
// each half-warp. `loads`: through L1, where 2.x has whole lines only.
void touch_older(const memory_rules& rules, const std::uint64_t* address, std::uint32_t active,
                 unsigned bytes, bool loads, touched_lines& out);

// Accesses to shared memory, as wavefronts() and ideal_wavefronts().
unsigned older_wavefronts(const memory_rules& rules, shared_use use, const std::uint64_t* offset,
                          std::uint32_t active, unsigned bytes);
unsigned older_ideal_wavefronts(const memory_rules& rules, shared_use use, std::uint32_t active,
                                unsigned bytes, unsigned taken);

}  // namespace stepwise::emulator
