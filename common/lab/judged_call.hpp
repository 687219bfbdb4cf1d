// What a judge and the runner of a graded submission say to each other: "make call 7", "it is
// over".
//
// idea    A call's buffers lie on a device that the judge fills, so the runner receives addresses
//         and numbers only. Arrays that a contract requires in the host's memory (DESIGN.md) come
//         through memory that both map; there the judge finds the outputs, too.
// watch   What the runner answers decides nothing but that the call is over: a failure that it
//         tells is believed, a success is not. Both structures are sent as they are, over a socket.
#pragma once

#include <cstdint>

#include "common/lab/call_file.hpp"

namespace stepwise::runner {

struct judged_buffer {
  std::uint64_t address;  // on the device; of host arrays: the offset in the shared memory
  std::uint64_t bytes;
  buffer_role role;
  std::uint32_t poison;
};

struct judged_request {
  std::uint32_t number;
  memory_kind memory;
  std::uint32_t buffer_count, scalar_count;
  std::uint32_t is_empty, padding;  // 1: all but the call itself: tells what asking for one costs
  judged_buffer buffers[max_buffers];
  std::int64_t scalars[max_scalars];
};

struct judged_answer {
  std::uint32_t number;
  call_state state;                      // done or failed
  std::int32_t cuda_error;               // cudaError_t when failed
  std::uint32_t guard_broken, modified;  // 1: of some host array
  char message[512];                     // what failed, NUL-terminated
};

// Control: a runner started as `RUNNER --judged FD ARRAYS` reads requests from FD, a socket, and
// answers each; end of file ends it. ARRAYS is the descriptor of the shared memory for host arrays.
// Its CUDA device is the one that its runtime finds (STEPWISE_REMOTE_DEVICE); it is first used by
// the first call. Exit codes as in call_file.hpp.
}  // namespace stepwise::runner
