// The cost of a warp's access on GPUs before compute capability 7.0, by their published rules.
//
// idea    1.x serves half-warps. Global memory is accessed in aligned segments without a cache;
//         shared memory has 16 banks and broadcasts one word per wavefront. 2.x loads whole lines.
//         3.x has banks of 8 bytes.
// source  CUDA C Programming Guide 5.5, appendix G.3 to G.5. No such GPU was measured. Where the
//         guide leaves open which word is broadcast, the lowest lane's word is. Shared atomics are
//         counted as if the hardware had them; before 5.0, they were loops that take a lock.
// Tested by tests/older_requests_test.cpp.
#pragma once

#include <cstdint>

#include "common/device/memory_rules.hpp"
#include "common/emulator/profile/requests.hpp"

namespace stepwise::emulator {

// A global access, split like touch() for newer GPUs. A line may appear twice in `out`: once for
// each half-warp. `loads`: through L1, where 2.x has only whole lines.
void touch_older(const memory_rules& rules, const std::uint64_t* address, std::uint32_t active,
                 unsigned bytes, bool loads, touched_lines& out);

// Accesses to shared memory, as in wavefronts() and ideal_wavefronts().
unsigned older_wavefronts(const memory_rules& rules, shared_use use, const std::uint64_t* offset,
                          std::uint32_t active, unsigned bytes);
unsigned older_ideal_wavefronts(const memory_rules& rules, shared_use use, std::uint32_t active,
                                unsigned bytes, unsigned taken);

}  // namespace stepwise::emulator
