// A sum that one block begins and another one ends: how the first says that its part is in c.
//
// idea    A flag for each block: set after the stores, with release, and waited for, with acquire,
//         before the loads. The block that has waited clears it, so that the next launch finds it
//         clear.
// watch   A block that waits holds its slot: the one that it waits for must have begun before. The
//         flags are the program's: two launches at once would take each other's.
//         cuda::atomic_ref would be the same instructions, but <cuda/atomic> takes nvcc three
//         seconds to read in all its passes.
#pragma once

constexpr int most_blocks = 1024;  // of a launch in which sums are handed on
__device__ int handed_on[most_blocks];

// Says that what this block has stored so far is there. All its threads call it.
__device__ inline void hand_on(int block) {
  __syncthreads();  // all have stored
  if (threadIdx.x == 0) {
    __nv_atomic_store_n(&handed_on[block], 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  }
}

// Waits until `block` has said so, once. All threads of the block that waits call it.
__device__ inline void wait_for(int block) {
  while (threadIdx.x == 0 && __nv_atomic_exchange_n(&handed_on[block], 0, __NV_ATOMIC_ACQUIRE,
                                                    __NV_THREAD_SCOPE_DEVICE) == 0) {
  }
  __syncthreads();
}
