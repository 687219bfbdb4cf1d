// The file through which `lab` hands calls and bulk data to a runner and takes results back.
//
// idea    One mapped file (a memfd for lab, a file on disk for a run by hand): a header, call
//         records, then the buffers' bytes. lab writes the calls and inputs, the runner writes
//         states, outputs and times. Neither side parses text, nothing goes through stdout.
//         A host runner is the same with the CPU instead of a CUDA device: buffers lie in its
//         memory, times are those of its clock, and a cold call's buffers are in no cache of it.
// watch   A runner holds a student's code, so lab believes no field of it: it checks outputs
//         against its own copy of the sizes, and takes times from it in practice mode only.
#pragma once

#include <cstdint>

namespace stepwise::runner {

inline constexpr char call_file_magic[8] = {'s', 't', 'e', 'p', 'w', 'i', 's', 'e'};
inline constexpr std::uint32_t call_file_version = 5;
inline constexpr int max_buffers = 8;
inline constexpr int max_scalars = 8;
inline constexpr std::uint64_t guard_bytes = 256;  // around a buffer; none on the emulator

// Where a contract requires its arrays, all of them (DESIGN.md).
enum class memory_kind : std::uint32_t {
  device = 0,  // of the machine that makes the call: a CUDA device's, or the CPU's
  host = 1,    // of the host: the function itself copies to the device and back
};

enum class buffer_role : std::uint32_t {
  input = 1,    // `bytes` bytes at `offset`: copied to that memory before the call
  output = 2,   // poisoned before each call, copied to `offset` after the last one
  scratch = 3,  // poisoned before each call, never copied back
};

struct buffer_record {
  buffer_role role;
  std::uint32_t guard_broken;  // out: 1 before the buffer, 2 after it, 3 both (not on the emulator)
  std::uint64_t bytes;
  std::uint64_t offset;   // of its bytes from the file's start, a multiple of 64; scratch: 0
  std::uint8_t poison;    // the byte that fills it before a call
  std::uint8_t modified;  // out: 1 if a call changed this input, which it must not
  std::uint8_t padding[6];
  char name[24];  // of the parameter, for the reports of checks; NUL-terminated, may be empty
};

enum class call_state : std::uint32_t { waiting = 0, running = 1, done = 2, failed = 3 };

// What becomes of a call's buffers.
enum class buffers_are : std::uint32_t {
  fresh = 0,  // made for this call, and given back after it
  // Those that the last call left, if they are the same ones and it did not fail, else made; and
  // left where they are for the next one. What is left is not copied in again, so a file's inputs
  // must stay as they are.
  left = 1,
  // The same, but only the times come back: outputs are not copied, guard zones and inputs not
  // looked at.
  reused = 2,
};

// How a call is made.
struct call_plan {
  std::uint32_t warmups = 0;      // untimed calls before the timed ones
  std::uint32_t repetitions = 1;  // timed calls; at least 1
  std::uint32_t cold_l2 = 0;      // 1: the L2 cache is overwritten before each timed call
  buffers_are buffers = buffers_are::fresh;
  // At the end the call is made again and again for at least so long, back to back, without times
  // or poison. For what is read off slowly from outside: energy.
  std::uint32_t busy_ms = 0;
};

// Counted by our runtime while the last repetition ran (execution_counters of common/device).
struct counter_record {
  std::uint64_t valid;  // 0: the device keeps no counters
  std::uint64_t launches, warp_instructions, lane_instructions;
  std::uint64_t global_load_bytes, global_store_bytes, shared_load_bytes, shared_store_bytes;
  std::uint64_t atomics, barriers;
};

// One call of the contract's function: pointer parameters take the buffers in order, integer
// parameters take the scalars in order. A broken guard or a modified input fails the call as a
// CUDA error does, with cuda_error 0; outputs and times are filled in all the same.
struct call_record {
  call_state state;         // out
  std::int32_t cuda_error;  // out: cudaError_t when failed
  char message[512];        // out: what failed, NUL-terminated
  memory_kind memory;       // in which its buffers lie
  std::uint32_t buffer_count, scalar_count;
  buffer_record buffers[max_buffers];
  std::int64_t scalars[max_scalars];
  call_plan plan;
  std::uint32_t busy_calls;    // out: how many calls the plan's busy_ms were
  double busy_took_ms;         // out: by the host's clock
  std::uint64_t times_offset;  // of `repetitions` floats (out): device time of each call in ms
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

// Control: a runner started as `RUNNER FILE` makes every call in order and exits. Started as
// `RUNNER FILE --control FD` it reads from FD (a socket) one little-endian uint32 at a time, the
// number of the call to make, and answers with the same number when that call is done or failed;
// end of file ends it. Exit codes: 0 every call made (failed ones included), 2 bad usage or file,
// 3 no CUDA device or runtime.
}  // namespace stepwise::runner
