// Device memory as programs ask for it, whichever call they use.
//
// tests   ../tests/memory_test.cpp, ../tests/pool_test.cpp
#pragma once

#include "common/runtime/api/api.hpp"

namespace stepwise::runtime {

// An allocation; of 0 bytes it is a null pointer.
status allocate(state& s, void** address, std::size_t bytes);

// Before the device allocates: where the program asks for it, for host_access.hpp. With checks each
// call has its place; in a plain run only the first hundred allocations do.
void note_place(state& s);

// The failure of an allocation: out of memory is said aloud.
status refused(const status& failure);

// Frees what any call allocated on the device, or from a pool, or as managed memory. It waits for
// the kernels that may still use it.
status release(state& s, void* address);

}  // namespace stepwise::runtime
