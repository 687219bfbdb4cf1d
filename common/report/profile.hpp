// The counts of a program's kernels from a device that counts, as data for display.
//
// idea    A kernel_profile describes one kernel in one launch configuration. Its line_profiles
//         describe the lines of its source file. The counts equal the corresponding Nsight Compute
//         metrics; common/emulator/profile/DESIGN.md lists them and the exceptions.
// watch   Instructions are PTX instructions; the machine code may have fewer or more. Memory
//         accesses are those of the machine code if its tables are available.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/device/device.hpp"
#include "common/device/occupancy.hpp"
#include "common/ptx/traits.hpp"
#include "common/report/finding.hpp"
#include "common/report/timing.hpp"

namespace stepwise {

// Accesses to global or local memory. A request is one access by a warp, and transfers the sectors
// of 32 bytes that its lanes touch.
struct sector_counts {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;  // active lanes, over all requests
  std::uint64_t sectors = 0;
  std::uint64_t ideal_sectors = 0;  // if the same lanes accessed neighbouring elements
  // From the cache model.
  std::uint64_t l1_hits = 0;  // sectors
  std::uint64_t l2_sectors = 0, l2_hits = 0;
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0;
  // The part of `sectors` that atomics transfer again because several lanes share an address.
  std::uint64_t repeated_sectors = 0;

  sector_counts& operator+=(const sector_counts& o);
  bool operator==(const sector_counts&) const = default;
};

// Accesses to shared memory. Bank conflicts decide the number of wavefronts per request.
struct wavefront_counts {
  std::uint64_t requests = 0;
  std::uint64_t lanes = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal_wavefronts = 0;     // without bank conflicts
  std::uint64_t repeated_wavefronts = 0;  // by atomics, for further lanes at the same address

  wavefront_counts& operator+=(const wavefront_counts& o);
  bool operator==(const wavefront_counts&) const = default;
};

// The work of tensor cores and of Hopper's asynchronous units.
struct async_counts {
  std::uint64_t tensor_instructions = 0;  // products in the machine code, counted per warp
  std::uint64_t tensor_cycles = 0;        // busy, summed over sub-partitions
  // Wavefronts of shared memory that read operands of wgmma. Each warp of a warpgroup counts a
  // quarter of them.
  double operand_wavefronts = 0;
  std::uint64_t copies = 0;            // bulk copies and commits of their groups, per warp
  std::uint64_t received_sectors = 0;  // with fill outside the tensor; in each receiving block
  std::uint64_t sent_sectors = 0;      // to global memory
  std::uint64_t arrivals = 0;          // at mbarriers, counted per lane
  std::uint64_t waits = 0;             // that found their phase of an mbarrier complete, per lane
  std::uint64_t cluster_barriers = 0;  // warps that arrive
  std::uint64_t peer_sectors = 0;      // from or to the shared memory of other blocks

  async_counts& operator+=(const async_counts& o);
  bool operator==(const async_counts&) const = default;
};

using ptx::pipe;
using ptx::pipes;
const char* name_of(pipe p);  // "fp32"

struct instruction_counts {
  std::uint64_t warps = 0;  // instructions executed by warps
  std::uint64_t lanes = 0;  // the same instructions, times the active lanes
};

// The counts of a line, or of a whole kernel.
struct profile_counts {
  sector_counts global_load, global_store, global_atomic, local_load, local_store;
  // ld.const, as the PTX has it: no caches, and the machine code may make the word an operand.
  sector_counts constant_load;
  wavefront_counts shared_load, shared_store, shared_atomic, shared_copy;  // copy: cp.async
  // The part of global_load, global_store and shared_copy that bulk copies do, without reductions.
  sector_counts bulk_load, bulk_store;
  wavefront_counts bulk_shared_copy;
  async_counts async;
  instruction_counts instructions[pipes];
  std::uint64_t branches = 0, divergent_branches = 0;  // of warps

  instruction_counts all_instructions() const;
  profile_counts& operator+=(const profile_counts& o);
};

// A line that other instructions waited for.
struct waited_line {
  code_place at;
  double cycles = 0;  // summed over warps
};

struct line_profile {
  code_place at;     // `inner` is empty for a line of a kernel
  std::string path;  // of the file, as passed to the compiler
  profile_counts counts;
  // Differences in the machine code, for example that two adjacent accesses become one access of 8
  // bytes.
  std::vector<std::string> notes;
  // Parts of the counts that belong to functions inlined here, most expensive first. at.inner is
  // the function, and the rest of `at` is the line in it.
  std::vector<line_profile> inner;
  // Filled in only when the time model ran, for the blocks that it simulated.
  stall_cycles stalled;
  std::vector<waited_line> waited_for;  // longest first, at most three
};

// Copies and fills of device memory, by calls from the host or from kernels, and its allocations.
struct device_transfers {
  std::uint64_t copies = 0, copied_bytes = 0;  // each byte is read and written
  std::uint64_t fills = 0, filled_bytes = 0;
  double us = 0;  // of both, on the emulated GPU, with launch overheads; 0: not requested
  std::uint64_t allocations = 0;

  std::uint64_t bytes_moved() const { return 2 * copied_bytes + filled_bytes; }
  device_transfers& operator+=(const device_transfers& o);
  bool operator==(const device_transfers&) const = default;
};

struct kernel_profile {
  std::string kernel;  // readable name, without parameters
  std::string mangled;
  std::uint64_t launches = 0;  // with this configuration; the counts are sums over all of them
  extent grid, block;
  extent last_grid = {0, 0, 0};  // of merged launches with different grids; 0: all have `grid`
  std::uint64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;  // per block
  int registers = 0;                                                // 0: no machine code
  std::uint64_t local_bytes = 0;                                    // per thread
  std::uint64_t spill_bytes = 0;    // part of local_bytes that is not in the PTX
  occupancy fits;                   // theoretical
  int resident_warps = 0;           // per multiprocessor
  int most_warps = 0;               // limit per multiprocessor
  bool knows_machine_code = false;  // the accesses are those of the machine code
  // An instruction whose accesses are neither counted nor timed ("tex.2d.v4.f32.f32"), "clusters of
  // blocks", or empty. If it is not empty, the counts are incomplete and there is no time.
  std::string uncounted;
  std::uint64_t l1_bytes = 0, l2_bytes = 0;  // of the cache model
  double cache_share = 1;                    // fraction of the cache sets that was modelled
  kernel_timing timing;
  profile_counts total;
  std::vector<line_profile> lines;  // by file and line

  // The fraction of lanes that are active; 1 if no warp ever diverges and all warps are full.
  double warp_efficiency() const;
  // The same fraction without the lanes that have no thread because a block does not fill its last
  // warp.
  double active_share() const { return warp_efficiency() / warp_fill(); }
  double warp_fill() const;  // threads of a block / lanes of its warps
  // Whether the branches of these counts diverge often enough to matter. A bounds check at which
  // only one of many warps diverges does not matter.
  bool diverges_noticeably(const profile_counts& line) const;
};

}  // namespace stepwise
