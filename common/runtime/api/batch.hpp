// What the calls that take many operations at once have in common.
//
// tests   ../tests/managed_test.cpp, ../tests/copy_test.cpp
#pragma once

#include "common/runtime/api/api.hpp"

namespace stepwise::runtime {

// A batch does not run in the legacy default stream. `per_thread`: called under the name that
// programs built with --default-stream per-thread use, for which 0 is another stream.
status check_batch_stream(const state& s, cudaStream_t stream, bool per_thread);

// What goes with the operations of a batch (attributes, places): entry k holds from operation
// starts[k] to the one before starts[k + 1]. They must begin with 0, rise, and stay below `count`.
status check_batch_entries(const char* function, std::size_t count, const void* entries,
                           const std::size_t* starts, std::size_t entry_count);

}  // namespace stepwise::runtime
