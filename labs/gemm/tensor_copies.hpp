// Given: TMA copies between matrices and tiles in shared memory, and barriers that count them, on
// compute capability 9.0.
//
// idea    A tensor map describes a matrix and a box. One thread names a map and a position, and the
//         hardware copies the box: it computes the addresses, swizzles the rows, writes zeros for
//         elements outside the matrix, and skips them when it stores. An mbarrier counts the
//         arrivals of threads and the bytes of copies. Its phase ends when both are complete.
// watch   A barrier counts phases only as even and odd. A thread that waits for parity 0 waits for
//         the end of the first, third, ... phase.
// source  CUDA C++ Programming Guide, "Asynchronous Data Copies using the Tensor Memory
//         Accelerator"; PTX ISA 9.1, "mbarrier"
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cuda/ptx>
#include <stdexcept>
#include <string>

#include "common/lab/check.hpp"

using barrier = std::uint64_t;  // in shared memory

// Initialises a barrier whose phases need this many arrivals. One thread calls it.
__device__ inline void init_barrier(barrier& b, int arrivals) {
  cuda::ptx::mbarrier_init(&b, arrivals);
}
// Makes new barriers visible to copies and to the other blocks of a cluster. The thread that has
// called init_barrier() also calls this function, before __syncthreads() or the cluster's barrier.
// `lab check` does not report a missing call.
__device__ inline void publish_barriers() {
  cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
}
__device__ inline void arrive(barrier& b) { cuda::ptx::mbarrier_arrive(&b); }
// Arrives, and adds `bytes` to the bytes that the phase waits for.
__device__ inline void arrive_and_expect(barrier& b, int bytes) {
  cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                       cuda::ptx::space_shared, &b, bytes);
}
// Arrives at the barrier at the same place in another block of the cluster.
__device__ inline void arrive_at(barrier& b, int block) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(
          static_cast<unsigned>(__cvta_generic_to_shared(&b))),
      "r"(block)
      : "memory");
}
__device__ inline void wait(barrier& b, int parity) {
  while (!cuda::ptx::mbarrier_try_wait_parity(&b, parity)) {
  }
}

// All threads of the cluster's blocks wait for each other.
__device__ inline void meet_cluster() {
  cuda::ptx::barrier_cluster_arrive();
  cuda::ptx::barrier_cluster_wait();
}

// The 128 threads of a warpgroup wait for each other, at one of a block's 16 named barriers. Number
// 0 is __syncthreads().
__device__ inline void meet_warpgroup(int barrier_number) {
  asm volatile("bar.sync %0, 128;" ::"r"(barrier_number) : "memory");
}

// A stage of a ring of stages, and the parity of its barriers' current phase.
template <int Stages>
struct ring_position {
  int stage = 0, parity = 0;
  __device__ void advance() {
    if (++stage < Stages) return;
    stage = 0;
    parity ^= 1;
  }
};

// Orders this thread's earlier accesses to shared memory before later ones by TMA and wgmma. Every
// thread that has written calls it, before the barrier.
__device__ inline void fence_proxy() { cuda::ptx::fence_proxy_async(cuda::ptx::space_shared); }

// Begins to copy the box at (row, col) to `tile`. The copy adds its bytes, always those of a whole
// box, to the barrier.
__device__ inline void load_box(void* tile, const CUtensorMap& map, int row, int col, barrier& b) {
  const std::int32_t at[] = {col, row};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, tile, &map, at,
                                  &b);
}
// Like load_box(), but for all blocks of the cluster whose bits are set: each gets the box and its
// bytes at the same place in its shared memory.
__device__ inline void load_box_for(std::uint16_t blocks, void* tile, const CUtensorMap& map,
                                    int row, int col, barrier& b) {
  const std::int32_t at[] = {col, row};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, tile, &map, at,
                                  &b, blocks);
}
// Begins to copy `tile` to the box at (row, col), and makes a group of this copy.
__device__ inline void store_box(const CUtensorMap& map, int row, int col, const void* tile) {
  const std::int32_t at[] = {col, row};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_global, cuda::ptx::space_shared, &map, at, tile);
  cuda::ptx::cp_async_bulk_commit_group();
}
// Waits until at most the newest Pending copies of this thread's store_box() still read shared
// memory.
template <int Pending>
__device__ void wait_for_reads() {
  cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<Pending>{});
}

// A map of a row-major matrix of bfloat16, for boxes of box_rows x 64 elements, whose rows of 128
// bytes are swizzled in shared memory (wgmma.hpp). The kernel takes it by value, as a
// `const __grid_constant__ CUtensorMap`. Throws if the driver refuses it.
inline CUtensorMap map_of(const void* matrix, int rows, int cols, int box_rows) {
  static const auto encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult outcome{};
    stepwise::check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                     cudaEnableDefault, &outcome));
    if (found == nullptr) throw std::runtime_error("the driver has no cuTensorMapEncodeTiled()");
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  }();
  const std::uint64_t sizes[] = {std::uint64_t(cols), std::uint64_t(rows)};
  const std::uint64_t row_bytes[] = {std::uint64_t(cols) * 2};
  const std::uint32_t box[] = {64, std::uint32_t(box_rows)}, steps[] = {1, 1};
  CUtensorMap map;
  const CUresult error =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix), sizes, row_bytes,
             box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error != CUDA_SUCCESS)
    throw std::runtime_error("cuTensorMapEncodeTiled: error " + std::to_string(error));
  return map;
}
