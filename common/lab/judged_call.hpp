// The messages between a judge and the runner of a graded submission: a request to make a call, and
// the answer when the call is over.
//
// idea    The judge fills a call's buffers on the device, so the runner receives only addresses and
//         numbers. If a contract requires arrays in host memory (DESIGN.md), inputs and outputs
//         are in memory that both processes map.
// watch   The judge trusts the runner when it reports a failure, but not when it reports success.
//         Both structures are sent over a socket as raw bytes.
#pragma once

#include <cstdint>

#include "common/lab/call_file.hpp"

namespace stepwise::runner {

struct judged_buffer {
  std::uint64_t address;  // on the device; for host arrays, the offset in shared memory
  std::uint64_t bytes;
  buffer_role role;
  std::uint32_t poison;
};

struct judged_request {
  std::uint32_t number;
  memory_kind memory;
  std::uint32_t buffer_count, scalar_count;
  std::uint32_t is_empty, padding;  // is_empty: makes no call, to measure the overhead
  judged_buffer buffers[max_buffers];
  std::int64_t scalars[max_scalars];
};

struct judged_answer {
  std::uint32_t number;
  call_state state;                      // done or failed
  std::int32_t cuda_error;               // cudaError_t if failed
  std::uint32_t guard_broken, modified;  // 1 if so for any host array
  char message[512];                     // what failed, NUL-terminated
};

// Control: a runner started as `RUNNER --judged FD ARRAYS` reads requests from FD, a socket, and
// answers each. End of file ends the runner. ARRAYS is the descriptor of the shared memory for host
// arrays. The first call initialises the CUDA device that the runtime finds
// (STEPWISE_REMOTE_DEVICE). Exit codes are those in call_file.hpp.
}  // namespace stepwise::runner
