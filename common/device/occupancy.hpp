// How many blocks of a kernel one multiprocessor holds at once.
//
// idea    Warps, registers, shared memory and block slots each have room for some number of blocks;
//         the least of the four is what is resident. What a block takes of each is rounded up to
//         units that differ from one generation to the next.
// source  compute capability 3.0 and newer: cuda_occupancy.h of the CUDA toolkit 13.0, to which
//         tests/occupancy_test.cpp compares thousands of blocks. 1.x and 2.x, which it has dropped:
//         "CUDA Occupancy Calculator", sheet "GPU Data", and cuda_occupancy.h of CUDA 7.0.
// tests   tests/occupancy_test.cpp, tests/rules_test.cpp
#pragma once

#include "common/device/device.hpp"

namespace stepwise {

struct occupancy {
  int blocks = 0;  // resident per multiprocessor; 0 if even one does not fit
  // The resources that limit it.
  bool by_warps = false, by_registers = false, by_shared = false, by_blocks = false;
};

// The resources of one block.
struct block_needs {
  std::uint64_t threads = 0;
  std::uint64_t registers = 0;     // of a thread
  std::uint64_t shared_bytes = 0;  // static and dynamic
  std::uint64_t most_shared = 0;   // that a block may have; beyond it, no block fits
};

// The same in the units in which it is allocated, and how many such blocks each resource holds.
struct block_room {
  static constexpr int any_number = 1 << 30;  // nothing of the resource is taken

  int warps = 0;          // of a block
  int registers = 0;      // of a block, rounded up
  int shared_bytes = 0;   // of a block, with what the system reserves, rounded up
  int register_unit = 0;  // what a warp's registers are rounded up to; 1.x: a block's
  int partitions = 0;  // of the registers: a warp's lie in one; 1.x: nothing is divided, but warps
                       // are given in groups of so many
  bool of_blocks = false;  // 1.x: registers are given to whole blocks
  int shared_unit = 0;     // bytes
  int by_warps = 0, by_registers = 0, by_shared = 0, by_blocks = 0;

  int blocks() const;
};

// not_supported for a compute capability whose rules are not known here.
result<block_room> room_for(const gpu& model, const block_needs& block);

// The most registers that a thread of a kernel can have; 0 if it is not known.
int most_registers_of_thread(int compute_capability);

// invalid_value for a block of 0 threads or more than the GPU allows.
result<occupancy> resident_blocks(const gpu& model, const kernel_attributes& kernel,
                                  std::uint64_t threads_per_block,
                                  std::uint64_t dynamic_shared_bytes);

// The dynamic shared memory per block that leaves room for `blocks` blocks on a multiprocessor, as
// cudaOccupancyAvailableDynamicSMemPerBlock returns it: without what the system reserves per block.
// invalid_value if that many blocks do not fit even without any.
result<std::uint64_t> available_dynamic_shared(const gpu& model, const kernel_attributes& kernel,
                                               int blocks, std::uint64_t threads_per_block);

}  // namespace stepwise
