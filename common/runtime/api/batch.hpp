// Checks shared by the calls that take a batch of operations.
//
// tests   ../tests/managed_test.cpp, ../tests/copy_test.cpp
#pragma once

#include "common/runtime/api/api.hpp"

namespace stepwise::runtime {

// A batch cannot run in the legacy default stream. `per_thread` means that the program was built
// with --default-stream per-thread, where stream 0 is not the legacy stream.
status check_batch_stream(const state& s, cudaStream_t stream, bool per_thread);

// Checks a batch's entries (attributes or places). Entry k applies to operations starts[k] to
// starts[k + 1] - 1. The starts must begin with 0, increase strictly, and stay below `count`.
status check_batch_entries(const char* function, std::size_t count, const void* entries,
                           const std::size_t* starts, std::size_t entry_count);

}  // namespace stepwise::runtime
