// The number of bytes that this process can read at an address.
//
// idea    A program passes us only the address of a fat binary. Its size is in its header, which
//         may be damaged, so we must not read past the end of mapped memory.
#pragma once

#include <cstdint>

namespace stepwise::runtime {

// The number of bytes from `address` to the end of its readable memory, or 0 if that memory is not
// readable. Without /proc, returns at most 256 MiB.
std::uint64_t mapped_bytes(const void* address);

}  // namespace stepwise::runtime
