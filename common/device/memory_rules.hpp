// How each GPU generation splits a warp's accesses into transactions, and which caches hold them.
//
// idea    All GPUs from compute capability 7.0 on have the same rules: sectors of 32 bytes, 32
//         banks of 4 bytes, L1 for loads. Older GPUs have other rules, which decide the cost of a
//         stride.
// source  CUDA C Programming Guide 5.5, appendix G.3 to G.5 (1.x to 3.x); CUDA C++ Programming
//         Guide 12.2, chapter "Compute Capabilities" (5.x to 9.0). L1 sizes: the same, and Jia et
//         al. 2018 (Kepler to Volta). 9.0 was measured (common/emulator/profile/DESIGN.md).
#pragma once

#include <cstdint>

#include "common/device/gpu.hpp"

namespace stepwise {

enum class global_requests : std::uint8_t {
  sectors,   // the sectors of 32 bytes that a warp touches
  lines,     // loads: lines of 128 bytes, through L1; stores: sectors (2.x)
  segments,  // per half-warp: 32, 64 or 128 bytes, aligned; no cache (1.2, 1.3)
};

struct memory_rules {
  global_requests global = global_requests::sectors;
  bool l1_keeps_loads = true;            // loads from global memory
  bool l1_keeps_read_only_loads = true;  // ld.global.nc, from __ldg
  bool l1_keeps_stores = true;
  bool l1_keeps_stack = true;  // local memory
  bool has_l2 = true;
  unsigned l2_halves = 1;        // each multiprocessor is close to one half
  unsigned sectors_of_dram = 1;  // sectors per DRAM read
  // Shared memory: 16 banks, each half-warp is separate, and a wavefront broadcasts at most one
  // word that several lanes read (1.x).
  bool half_warps = false;
  unsigned bank_bytes = 4;  // 8: aligned words i and i + 32 of 64 share a word
  // Halves or quarters of a warp share a wavefront if pairs of their lanes read the same addresses.
  bool joins_pairs = true;
  unsigned cycles_of_wavefront = 1;

  // Whether a warp's accesses are split as on current GPUs (7.0 and newer).
  bool are_todays() const { return joins_pairs; }
};

// The rules of the GPU's compute capability; those of 7.0 and newer are the default.
memory_rules memory_rules_of(const gpu& model);

// The shared memory carve-out of a multiprocessor for `bytes` bytes, in bytes. The driver chooses
// the smallest sufficient size.
std::uint64_t shared_carveout(const gpu& model, std::uint64_t bytes);

// The bytes of L1 for global memory that remain next to the shared memory of `resident` blocks.
// `bytes` per block excludes the bytes that the system reserves. 0 if there is no L1.
std::uint64_t l1_bytes_beside(const gpu& model, std::uint64_t bytes, std::uint64_t resident);

}  // namespace stepwise
