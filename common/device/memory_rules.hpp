// How a GPU takes a warp's accesses apart and what keeps them, by generation.
//
// idea    From compute capability 7.0 on all do it alike: sectors of 32 bytes, 32 banks of 4 bytes,
//         L1 for loads. Older ones have rules of their own, and these decide what a stride costs.
// source  CUDA C Programming Guide 5.5, appendix G.3 to G.5 (1.x to 3.x); CUDA C++ Programming
//         Guide 12.2, chapter "Compute Capabilities" (5.x to 9.0). Sizes of L1: the same, and Jia
//         et al. 2018 (Kepler to Volta). 9.0 was measured (common/emulator/profile/DESIGN.md).
#pragma once

#include <cstdint>

#include "common/device/gpu.hpp"

namespace stepwise {

enum class global_requests : std::uint8_t {
  sectors,   // the sectors of 32 bytes that a warp touches
  lines,     // loads: whole lines of 128 bytes, through L1; stores: sectors (2.x)
  segments,  // of each half-warp: 32, 64 or 128 bytes, aligned; nothing keeps them (1.2, 1.3)
};

struct memory_rules {
  global_requests global = global_requests::sectors;
  bool l1_keeps_loads = true;            // of global memory
  bool l1_keeps_read_only_loads = true;  // ld.global.nc, of which __ldg is made
  bool l1_keeps_stores = true;
  bool l1_keeps_stack = true;  // local memory
  bool has_l2 = true;
  unsigned l2_halves = 1;        // each multiprocessor is near to one of them
  unsigned sectors_of_dram = 1;  // that memory is read by
  // Shared memory. Half-warps: 16 banks, each half by itself, and of the words that several lanes
  // read one is broadcast in a turn (1.x).
  bool half_warps = false;
  unsigned bank_bytes =
      4;  // 8: words i and i + 32 of 64 that are aligned lie in one word of a bank
  // Halves and quarters of a warp that read the same places in pairs are served together.
  bool joins_pairs = true;
  unsigned cycles_of_wavefront = 1;

  // Whether a warp's accesses are taken apart as on the GPUs that were measured.
  bool are_todays() const { return joins_pairs; }
};

// The rules of the GPU's compute capability; those of 7.0 and newer are the default.
memory_rules memory_rules_of(const gpu& model);

// The shared memory that the driver sets aside in a multiprocessor for `bytes` bytes: the least of
// the sizes that it has.
std::uint64_t shared_carveout(const gpu& model, std::uint64_t bytes);

// What L1 has for global memory beside the shared memory of `resident` blocks with `bytes` each,
// the system's own share not counted. 0: there is none.
std::uint64_t l1_bytes_beside(const gpu& model, std::uint64_t bytes, std::uint64_t resident);

}  // namespace stepwise
