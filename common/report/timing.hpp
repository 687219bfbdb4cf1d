// The result of the time model for a kernel (common/emulator/time): data for display.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepwise {

// The parts of a GPU that a kernel can keep busy.
enum class part : std::uint8_t { issue, alu, fma, port, l2, dram, atomics };
inline constexpr int busy_parts = static_cast<int>(part::atomics) + 1;
const char* name_of(part p);  // "dram"

// Why a warp does not issue. The names are those of NVIDIA's visual profiler, with ncu's current
// ones.
enum class stall : std::uint8_t {
  memory_dependency,     // needs a load from global or local memory (long_scoreboard)
  shared_dependency,     // from shared memory or a shuffle (short_scoreboard)
  special_functions,     // from a special function (sin, rsqrt, a quotient), or waits for their
                         // unit (also short_scoreboard, and mio_throttle)
  execution_dependency,  // from arithmetic (wait)
  synchronization,       // waits at the block's barrier (barrier)
  memory_throttle,       // the way to memory is full (lg_throttle, mio_throttle)
  pipe_busy,             // math_pipe_throttle
  instruction_fetch,     // after a branch, or the code is not there yet (branch_resolving,
                         // no_instruction)
  not_selected           // another warp was issued
};
inline constexpr int stalls = static_cast<int>(stall::not_selected) + 1;
const char* name_of(stall s);  // "memory dependency"

// Cycles of warps.
struct stall_cycles {
  double of[stalls] = {};
  double issued = 0;  // issue slots taken

  double all() const;  // of stalls
  stall_cycles& operator+=(const stall_cycles& o);
};

// What else could be, without changing the kernel: by changing the model.
enum class what_if : std::uint8_t {
  no_global_memory,    // loads, stores and atomics cost nothing
  no_arithmetic,       // floats, conversions and special functions cost nothing
  perfect_coalescing,  // as few sectors as its lanes' bytes fill
  no_bank_conflicts,
  full_occupancy,       // as many warps as a multiprocessor holds
  twice_the_registers,  // of a multiprocessor
  no_local_memory,      // the data in local memory is in registers instead
  no_divergence         // no lane waits while its warp executes another branch
};
inline constexpr int experiments = static_cast<int>(what_if::no_divergence) + 1;
const char* name_of(what_if e);  // "no global memory"

// What a kernel's accesses came to at each level, of all launches: what the time was made from.
struct level_traffic {
  double l1_sectors = 0;               // asked of L1, stores and atomics among them
  double shared_wavefronts = 0;        // of shared memory
  double loads = 0, load_hits = 0;     // sectors of loads, and of these what L1 has
  double l2_sectors = 0, l2_hits = 0;  // asked of L2, and of these what L2 has
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;    // of what the kernel stored; L2 keeps the rest
  double dram_earlier_bytes = 0;  // written in its time, because what was there had to make room

  level_traffic& operator+=(const level_traffic& o);
};

struct kernel_timing {
  double us = 0;                 // of all launches, on the emulated GPU; 0: not requested
  double instructions = 0;       // machine instructions of warps
  double busy[busy_parts] = {};  // shares of the time
  double active_warps = 0;       // of a busy multiprocessor, on average
  double counted = 1;  // of the instructions, those whose accesses were counted; 1: all blocks ran
  // The work of the blocks that the time was made from, over that of an average block; 1 at most.
  double likeness = 1;
  // The same time if every launch took at least as long as its block with most work would at the
  // pace of those blocks; 0: unknown.
  double longest_block_us = 0;
  std::optional<level_traffic> traffic;  // none: the counts say
  // Whether special functions count as stall::shared_dependency: ncu counts both as one reason, and
  // the kernel may have both.
  bool special_in_shared = false;
  // Microseconds of all launches by what_if; empty: not requested.
  std::vector<double> experiments_us;
};

}  // namespace stepwise
