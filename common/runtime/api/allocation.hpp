// Allocation and release of device memory, shared by all API calls that do either.
//
// tests   ../tests/memory_test.cpp, ../tests/pool_test.cpp
#pragma once

#include "common/runtime/api/api.hpp"

namespace stepwise::runtime {

// Allocates device memory. For 0 bytes, the address is null.
status allocate(state& s, void** address, std::size_t bytes);

// Records, for host_access.hpp, the source line that allocates. Call this before the device
// allocates. A checked run records every call. A plain run records only the first hundred
// allocations.
void note_place(state& s);

// Returns the failure of an allocation, after printing a message if memory ran out.
status refused(const status& failure);

// Frees device memory from any call, including pool and managed memory. Waits for the kernels that
// may still use the memory.
status release(state& s, void* address);

}  // namespace stepwise::runtime
