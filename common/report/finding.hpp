// The findings of a device that checks a program, as data for display.
//
// idea    A finding is one error in the program, no matter how many threads cause it; `count` is
//         the number of occurrences. The message describes the error, the parties are the threads
//         and lines, the object is the memory, and the advice is a possible fix.
// watch   Places in host code are numbers that the caller of the device chose (`origin`).
//         common/runtime turns them into lines (located_finding.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise {

enum class finding_kind : std::uint8_t {
  out_of_bounds,       // outside every allocation or variable
  misaligned,          // at an address that is not a multiple of the access size
  use_after_free,      // in memory that was freed
  double_free,         // freed twice, or never allocated
  wrong_pointer,       // of the host on the device or vice versa, or of another state space
  too_little_shared,   // a launch with less dynamic shared memory than its kernel uses
  unwritten_read,      // a kernel reads bytes that were never written
  unwritten_copy,      // bytes that were never written are copied to the host
  unset_variable,      // a kernel uses a local variable before it is set
  race,                // two unordered accesses, at least one a write
  barrier_divergence,  // threads of a warp or block at different barriers
  exited_at_barrier,   // threads left the kernel, so they never reach a barrier
  bad_mask,            // a membermask without the executing lane, or that can never match
  inactive_source,     // a shuffle from an inactive lane
  deadlock,            // every thread waits
  endless,             // never ends, or was stopped by the time limit
  failed,              // stopped for another reason: a trap, an assertion, no stack left
  leak,                // memory that was not freed
  unchecked_error,     // a call failed, and the program did not check
  missing_fence,       // between accesses through two proxies, or before wgmma
  not_awaited,      // asynchronous work without a wait before its result is used or the block ends
  wrong_copy_kind,  // a copy whose cudaMemcpyKind describes device memory as host memory
  unaligned_tile    // a swizzled tile within which the swizzle pattern begins elsewhere
};
inline constexpr int finding_kinds = static_cast<int>(finding_kind::unaligned_tile) + 1;

// The name in JSON, for example "out_of_bounds".
const char* name_of(finding_kind kind);

// A line of device code.
struct code_place {
  std::string file;  // "reduction.cu"; empty if unknown
  int line = 0;
  std::string text;   // of that line, trimmed; empty if the file cannot be read
  std::string inner;  // "warp_reduce at helpers.hpp:12": the function inlined into the line, if any
};

// One of the threads that a finding is about.
struct finding_party {
  std::string action;  // "writes 4 bytes", "waits at __syncthreads()"
  std::string kernel;  // readable name, without parameters
  code_place at;
  bool has_thread = true;
  extent block, thread;  // of the first occurrence; for a race, the first that decides the advice
};

// The memory that a finding is about.
struct finding_object {
  enum class kind : std::uint8_t {
    none,
    allocation,
    variable,
    shared_variable,
    dynamic_shared,
    local_memory,
    constant
  };
  kind what = kind::none;
  std::string name;            // of a variable or a named allocation; may be empty
  device_address address = 0;  // of the first byte; for shared and local memory, an offset
  std::uint64_t bytes = 0;
  std::int64_t offset = 0;          // of the first affected byte; may be out of bounds
  std::uint64_t element_bytes = 0;  // the access size; the index is offset / element_bytes
  std::uint64_t allocated_by = 0, freed_by = 0;  // origins; 0: unknown
};

// Begins the advice about a race of two threads whose indices are probably wrong. They store to one
// element, with one instruction, a value that is not computed from the element.
inline constexpr std::string_view check_index_advice =
    "If every thread has an element of its own, check the index";
inline constexpr std::string_view check_row_advice = "The two threads differ only in threadIdx.y";

// The threads that race, ordered by the effort to synchronise them. If there are many occurrences,
// the last one in this list decides the advice.
enum class race_between : std::uint8_t {
  none,         // no race
  lanes,        // of one warp
  warps,        // of one block
  one_store,    // lanes of a warp that execute one store together
  block_store,  // warps of a block at a store that each warp executes once
  copy,         // one of them is an asynchronous copy
  blocks,
  streams,
  host  // one party is the host, which has not waited for the other
};

struct finding {
  finding_kind kind = finding_kind::failed;
  race_between between = race_between::none;
  std::string message;                 // one sentence
  std::vector<finding_party> parties;  // the accessing thread; for a race, then the other one
  finding_object object;
  std::string advice;        // one sentence
  std::uint64_t count = 1;   // occurrences
  std::uint64_t origin = 0;  // of the launch or copy that led to it; 0: unknown
  // The launch or copy that the host did not wait for. In that case `origin` is the host's access.
  std::uint64_t unfinished = 0;
};

}  // namespace stepwise
