// The result of the time model for a kernel (common/emulator/time), as data for display.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepwise {

// The parts of a GPU that a kernel can keep busy.
enum class part : std::uint8_t { issue, alu, fma, tensor, l1_pipe, l2, dram, atomics };
inline constexpr int busy_parts = static_cast<int>(part::atomics) + 1;
const char* name_of(part p);  // "dram"

// The reasons why a warp does not issue. The names are from NVIDIA's Visual Profiler; ncu's current
// names are in parentheses.
enum class stall : std::uint8_t {
  memory_dependency,  // waits for a load from global or local memory (long_scoreboard)
  shared_dependency,  // waits for shared memory or a shuffle (short_scoreboard)
  special_functions,  // waits for a special function (sin, rsqrt, a quotient) or for its
  // unit (also short_scoreboard, and mio_throttle)
  execution_dependency,  // waits for arithmetic (wait)
  synchronization,       // waits at the block's barrier (barrier)
  memory_throttle,       // the queue to memory is full (lg_throttle, mio_throttle)
  pipe_busy,             // math_pipe_throttle
  instruction_fetch,     // after a branch, or the code is not loaded yet (branch_resolving,
  // no_instruction)
  not_selected  // another warp issued
};
inline constexpr int stalls = static_cast<int>(stall::not_selected) + 1;
const char* name_of(stall s);  // "memory dependency"

// Cycles, summed over warps.
struct stall_cycles {
  double of[stalls] = {};
  double issued = 0;  // issue slots used

  double all() const;  // sum over all stalls
  stall_cycles& operator+=(const stall_cycles& o);
};

// Experiments that change the time model instead of the kernel.
enum class what_if : std::uint8_t {
  no_global_memory,    // loads, stores and atomics cost nothing
  no_arithmetic,       // floats, conversions and special functions cost nothing
  perfect_coalescing,  // only the sectors that the lanes' bytes fill
  no_bank_conflicts,
  full_occupancy,       // the maximum number of warps per multiprocessor
  twice_the_registers,  // per multiprocessor
  no_local_memory,      // the data in local memory is in registers instead
  no_divergence         // no lane waits while its warp executes another branch
};
inline constexpr int experiments = static_cast<int>(what_if::no_divergence) + 1;
const char* name_of(what_if e);  // "no global memory"

// A kernel's traffic at each level of the memory hierarchy, over all launches. The time is computed
// from this traffic.
struct level_traffic {
  double l1_sectors = 0;               // requested from L1, including stores and atomics
  double shared_wavefronts = 0;        // in shared memory
  double loads = 0, load_hits = 0;     // sectors of loads, and their hits in L1
  double l2_sectors = 0, l2_hits = 0;  // requested from L2, and their hits
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;    // of the kernel's own stores; L2 keeps the rest
  double dram_earlier_bytes = 0;  // evicted earlier data, written back during the kernel

  level_traffic& operator+=(const level_traffic& o);
};

struct kernel_timing {
  double us = 0;                 // over all launches, on the emulated GPU; 0: not requested
  double instructions = 0;       // machine instructions executed by warps
  double busy[busy_parts] = {};  // fractions of the time
  double active_warps = 0;       // average over busy multiprocessors
  double counted = 1;  // fraction of instructions with counted accesses; 1: all blocks ran
  // The work of the simulated blocks relative to an average block; at most 1.
  double likeness = 1;
  double idle_blocks = 0;  // estimated number of blocks that write nothing to global memory
  // The time if every launch took at least as long as the block with the most work would take at
  // the pace of the simulated blocks. 0: unknown.
  double longest_block_us = 0;
  std::optional<level_traffic> traffic;  // none: derived from the counts instead
  // Whether special functions count as stall::shared_dependency. ncu counts the two kinds of stall
  // as one reason, and the kernel may have both.
  bool special_in_shared = false;
  // Microseconds over all launches, indexed by what_if; empty if not requested.
  std::vector<double> experiments_us;
};

}  // namespace stepwise
