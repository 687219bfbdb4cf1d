// A sum that one block begins and another one ends: the first signals that its part is in c.
//
// idea    Each block has a flag. It sets the flag after its stores, with release. The other block
//         waits for the flag, with acquire, before its loads, and then clears it, so that the
//         next launch finds it clear.
// watch   A block that waits holds its slot, so the block that it waits for must have begun before.
//         The flags belong to the program: two launches at once would use each other's flags.
//         cuda::atomic_ref would give the same instructions, but nvcc takes three seconds to read
//         <cuda/atomic> in all its passes.
#pragma once

constexpr int most_blocks = 1024;  // in a launch that hands sums on
__device__ int handed_on[most_blocks];

// Signals that the stores of this block so far are complete. All threads of the block call it.
__device__ inline void hand_on(int block) {
  __syncthreads();  // all have stored
  if (threadIdx.x == 0) {
    __nv_atomic_store_n(&handed_on[block], 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  }
}

// Waits for one such signal from `block`. All threads of the waiting block call it.
__device__ inline void wait_for(int block) {
  while (threadIdx.x == 0 && __nv_atomic_exchange_n(&handed_on[block], 0, __NV_ATOMIC_ACQUIRE,
                                                    __NV_THREAD_SCOPE_DEVICE) == 0) {
  }
  __syncthreads();
}
