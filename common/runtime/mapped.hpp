// How far this process can read from an address on.
//
// idea    A program gives us a fat binary by its address alone; its size stands in its own header,
//         which may be damaged. Reading goes no further than the memory that is there.
#pragma once

#include <cstdint>

namespace stepwise::runtime {

// Bytes from `address` to the end of the readable memory that it lies in; 0 if it lies in none, and
// all that could be where the system does not say (no /proc).
std::uint64_t mapped_bytes(const void* address);

}  // namespace stepwise::runtime
