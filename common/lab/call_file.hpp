// The file through which `lab` passes calls and bulk data to a runner and receives the results.
//
// idea    One mapped file (a memfd for lab, a file on disk for a run by hand) holds a header, call
//         records, and the buffers' bytes. lab writes the calls and inputs, and the runner writes
//         states, outputs and times. Neither side parses text, and nothing goes through stdout.
//         A host runner uses the CPU instead of a CUDA device. Its buffers are in host memory, its
//         times come from the host's clock, and the buffers of a cold call are in no CPU cache.
// watch   A runner contains a student's code, so lab trusts no field from it. lab checks outputs
//         against its own copy of the sizes, and uses the runner's times only in practice mode.
#pragma once

#include <cstdint>

namespace stepwise::runner {

inline constexpr char call_file_magic[8] = {'s', 't', 'e', 'p', 'w', 'i', 's', 'e'};
inline constexpr std::uint32_t call_file_version = 5;
inline constexpr int max_buffers = 8;
inline constexpr int max_scalars = 8;
inline constexpr std::uint64_t guard_bytes = 256;  // before and after a buffer; not on the emulator

// The memory in which a contract requires all of its arrays (DESIGN.md).
enum class memory_kind : std::uint32_t {
  device = 0,  // memory of the CUDA device or CPU that makes the call
  host = 1,    // host memory; the function itself copies to the device and back
  files = 2,   // files; the function is a program's main, which gets their names
};

enum class buffer_role : std::uint32_t {
  input = 1,    // `bytes` bytes at `offset`, copied to that memory before the call
  output = 2,   // poisoned before each call, copied to `offset` after the last one
  scratch = 3,  // poisoned before each call, never copied back
};

struct buffer_record {
  buffer_role role;
  std::uint32_t guard_broken;  // out: 1 before the buffer, 2 after it, 3 both (not on the emulator)
  std::uint64_t bytes;
  std::uint64_t offset;        // of its bytes in the file, a multiple of 64; 0 for scratch
  std::uint8_t poison;         // the byte that fills it before a call
  std::uint8_t modified;       // out: 1 if a call changed this input, which it must not, or if the
                               // program's result file has another size
  std::uint8_t element_bytes;  // size of an element, for messages; 0 counts as 1
  std::uint8_t padding[5];
  char name[24];  // of the parameter, for the reports of checks; NUL-terminated, may be empty
};

enum class call_state : std::uint32_t { waiting = 0, running = 1, done = 2, failed = 3 };

// The lifetime of a call's buffers.
enum class buffers_are : std::uint32_t {
  fresh = 0,  // allocated for this call, and freed after it
  // Uses the buffers of the last call if they match and the call succeeded; otherwise allocates new
  // buffers. Keeps the buffers for the next call. Inputs are not copied again when buffers are
  // kept, so the inputs in the file must not change.
  left = 1,
  // Like `left`, but returns only times. Outputs are not copied, and guard zones and inputs are not
  // checked.
  reused = 2,
};

// The repetitions and conditions of a call.
struct call_plan {
  std::uint32_t warmups = 0;      // untimed calls before the timed ones
  std::uint32_t repetitions = 1;  // timed calls; at least 1
  std::uint32_t cold_l2 = 0;      // 1: the L2 cache is overwritten before each timed call
  buffers_are buffers = buffers_are::fresh;
  // Afterwards, the call is repeated back to back for at least this time, without timing or poison,
  // so that slow external measurements, such as those of energy, are possible.
  std::uint32_t busy_ms = 0;
};

// Our runtime's counts of the last repetition (execution_counters in common/device).
struct counter_record {
  std::uint64_t valid;  // 0: the device keeps no counters
  std::uint64_t launches, warp_instructions, lane_instructions;
  std::uint64_t global_load_bytes, global_store_bytes, shared_load_bytes, shared_store_bytes;
  std::uint64_t atomics, barriers;
};

// One call of the contract's function. Pointer parameters take the buffers in order, and integer
// parameters take the scalars in order. A broken guard or a modified input fails the call like a
// CUDA error, but with cuda_error 0, and outputs and times are still filled in.
struct call_record {
  call_state state;         // out
  std::int32_t cuda_error;  // out: cudaError_t if failed
  char message[512];        // out: what failed, NUL-terminated
  memory_kind memory;       // the memory of its buffers
  std::uint32_t buffer_count, scalar_count;
  buffer_record buffers[max_buffers];
  std::int64_t scalars[max_scalars];
  call_plan plan;
  std::uint32_t busy_calls;    // out: number of calls during busy_ms
  double busy_took_ms;         // out: by the host's clock
  std::uint64_t times_offset;  // of `repetitions` floats (out), device times in ms
  counter_record counters;     // out
};

struct call_file_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t call_count;
  std::uint64_t file_bytes;
  std::uint32_t device_emulated;  // out: 1 under our runtime, 0 under NVIDIA's and on the CPU
  std::uint32_t padding;
  char device_name[128];   // out
  std::uint64_t l2_bytes;  // out
  // call_count call_records follow.
};

// Control: a runner started as `RUNNER FILE` makes every call in order and exits. A runner started
// as `RUNNER FILE --control FD` reads little-endian uint32 numbers of calls from FD, a socket. It
// makes each call, and returns the number when the call has succeeded or failed. End of file ends
// the runner. Exit codes: 0 every call made (including failed ones), 2 bad usage or file, 3 no CUDA
// device or runtime.
}  // namespace stepwise::runner
