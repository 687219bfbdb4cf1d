// The number of a kernel's blocks that are resident on one multiprocessor.
//
// idea    Warps, registers, shared memory and block slots each limit the number of blocks. The
//         smallest limit is the number of resident blocks. A block's use of each resource is
//         rounded up to a unit that depends on the GPU generation.
// source  compute capability 3.0 and newer: cuda_occupancy.h of the CUDA toolkit 13.0, with which
//         tests/occupancy_test.cpp compares thousands of blocks. 1.x and 2.x: "CUDA Occupancy
//         Calculator", sheet "GPU Data", and cuda_occupancy.h of CUDA 7.0.
// tests   tests/occupancy_test.cpp, tests/rules_test.cpp
#pragma once

#include "common/device/device.hpp"

namespace stepwise {

struct occupancy {
  int blocks = 0;  // resident per multiprocessor; 0 if not even one fits
  // The resources that limit it.
  bool by_warps = false, by_registers = false, by_shared = false, by_blocks = false;
};

// The resources of one block.
struct block_needs {
  std::uint64_t threads = 0;
  std::uint64_t registers = 0;     // per thread
  std::uint64_t shared_bytes = 0;  // static and dynamic
  std::uint64_t most_shared = 0;   // limit per block; no larger block fits
};

// The resources of one block in allocation units, and the number of such blocks that fit.
struct block_room {
  static constexpr int any_number = 1 << 30;  // the block does not use the resource

  int warps = 0;           // per block
  int registers = 0;       // per block, rounded up
  int shared_bytes = 0;    // per block, with the bytes that the system reserves, rounded up
  int register_unit = 0;   // a warp's registers are rounded up to this; 1.x: a block's
  int partitions = 0;      // of the register file (a warp uses one); 1.x: unit of warps
  bool of_blocks = false;  // 1.x: registers are allocated per block
  int shared_unit = 0;     // bytes
  int by_warps = 0, by_registers = 0, by_shared = 0, by_blocks = 0;

  int blocks() const;
};

// not_supported for a compute capability whose rules are unknown.
result<block_room> room_for(const gpu& model, const block_needs& block);

// The maximum number of registers per thread; 0 if unknown.
int most_registers_of_thread(int compute_capability);

// invalid_value for a block of 0 threads or more than the GPU allows.
result<occupancy> resident_blocks(const gpu& model, const kernel_attributes& kernel,
                                  std::uint64_t threads_per_block,
                                  std::uint64_t dynamic_shared_bytes);

// The number of clusters of `cluster_blocks` blocks that can be resident at once, as
// cudaOccupancyMaxActiveClusters returns it, where `blocks` blocks fit on a multiprocessor. A
// cluster must fit into one of the GPU's groups of multiprocessors, which must have at least as
// many multiprocessors as the cluster has blocks. At most 8 blocks per multiprocessor count.
// Measured on an H200 for all sizes up to 16. not_supported for a GPU whose groups are unknown.
result<int> resident_clusters(const gpu& model, int blocks, std::uint64_t cluster_blocks);

// The dynamic shared memory per block that lets `blocks` blocks fit on a multiprocessor, in bytes.
// Like cudaOccupancyAvailableDynamicSMemPerBlock, excludes the bytes that the system reserves per
// block. invalid_value if the blocks do not fit even without dynamic shared memory.
result<std::uint64_t> available_dynamic_shared(const gpu& model, const kernel_attributes& kernel,
                                               int blocks, std::uint64_t threads_per_block);

}  // namespace stepwise
