// The findings of a device that checks a program: data for display.
//
// idea    One finding is one mistake, however many threads made it: `count` says how many times.
//         Texts are for a student: the sentence says what happened, the parties say who and where,
//         the object says to which memory, the advice says what to do.
// watch   Places in the host's code are numbers that the caller of the device chose (`origin`);
//         common/runtime turns them into lines: located_finding.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise {

enum class finding_kind : std::uint8_t {
  out_of_bounds,       // outside every allocation or variable
  misaligned,          // at an address that is no multiple of the access's size
  use_after_free,      // in memory that was freed
  double_free,         // freed twice, or never allocated
  wrong_pointer,       // a host pointer on the device, one of another state space, a device pointer
                       // on the host
  too_little_shared,   // a launch with less dynamic shared memory than its kernel uses
  unwritten_read,      // a kernel reads bytes that were never written
  unwritten_copy,      // bytes that were never written are copied to the host
  race,                // two unordered accesses, at least one a write
  barrier_divergence,  // threads of a warp or block at different barriers
  exited_at_barrier,   // a barrier that threads never reach: they have left the kernel
  bad_mask,            // a membermask without the lane that executes, or that can never be matched
  inactive_source,     // a shuffle from a lane that takes no part
  deadlock,            // every thread waits
  endless,             // never ends, or was ended by the time limit
  failed,              // stopped for another reason: a trap, an assertion, no stack left
  leak,                // memory that was not freed
  unchecked_error,     // a call failed, and the program did not look
  wrong_copy_kind,     // a copy whose cudaMemcpyKind describes device memory as host memory
  not_followed         // no mistake: something whose order the checks cannot judge
};
inline constexpr int finding_kinds = static_cast<int>(finding_kind::not_followed) + 1;

// "out_of_bounds": as JSON has it.
const char* name_of(finding_kind kind);

// A line of device code.
struct code_place {
  std::string file;  // "reduction.cu"; empty: unknown
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
  extent block, thread;  // of the first occurrence; of a race, the first that decides its advice
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
  device_address address = 0;  // of its first byte; offset in the window for shared and local
  std::uint64_t bytes = 0;
  std::int64_t offset = 0;          // of the first byte concerned; may lie outside
  std::uint64_t element_bytes = 0;  // offset / element_bytes is the index; the access's size
  std::uint64_t allocated_by = 0, freed_by = 0;  // origins; 0: unknown
};

// Which threads race, in the order of what it takes to keep them apart: of many occurrences, the
// last in this list decides what is to be done.
enum class race_between : std::uint8_t {
  none,         // no race
  lanes,        // of a warp
  warps,        // of a block
  one_store,    // lanes of a warp that execute one store together
  block_store,  // warps of a block at a store that each executes once
  copy,         // one of them is an asynchronous copy
  blocks,
  streams,
  host  // one party is the host, which has not waited for the other
};

struct finding {
  finding_kind kind = finding_kind::failed;
  race_between between = race_between::none;
  std::string message;                 // one sentence
  std::vector<finding_party> parties;  // who did it; then the other, for a race
  finding_object object;
  std::string advice;        // one sentence
  std::uint64_t count = 1;   // occurrences
  std::uint64_t origin = 0;  // of the host's call that led to it: the launch, the copy; 0: unknown
  // The launch or copy that the host did not wait for. In that case `origin` is the host's access.
  std::uint64_t unfinished = 0;
};

}  // namespace stepwise
