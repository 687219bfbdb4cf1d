// Passes a tile's sums through global memory, from the warpgroup that begins the tile to the one
// that finishes it.
//
// idea    Every warpgroup has a flag and a slot for its partial sums. It stores the sums and sets
//         the flag with a release. The warpgroup that finishes the tile waits for the flag with an
//         acquire, adds the sums to its own, and clears the flag for the next launch.
// watch   A warpgroup that waits keeps its multiprocessor busy, so all blocks of the launch must
//         run at once. Slots and flags belong to the program: two launches at once would share
//         them.
#pragma once

#include "labs/gemm/tensor_copies.hpp"

constexpr int most_warpgroups = 320;  // that multiply, in a launch
constexpr int most_sums = 128;        // of a thread
__device__ float partial_sums[most_warpgroups][most_sums][128];
__device__ int handed_over[most_warpgroups];

// All 128 threads of the warpgroup call these functions. `slot` is the number of the warpgroup that
// stores the sums. The threads meet at the named barrier with the given number.
template <int Count>
__device__ void hand_over(const float (&sums)[Count], int slot, int barrier_number) {
  const int thread = threadIdx.x % 128;
  for (int i = 0; i < Count; ++i) partial_sums[slot][i][thread] = sums[i];
  meet_warpgroup(barrier_number);
  if (thread == 0)
    __nv_atomic_store_n(&handed_over[slot], 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}

template <int Count>
__device__ void add_from(float (&sums)[Count], int slot, int barrier_number) {
  const int thread = threadIdx.x % 128;
  while (thread == 0 && __nv_atomic_exchange_n(&handed_over[slot], 0, __NV_ATOMIC_ACQUIRE,
                                               __NV_THREAD_SCOPE_DEVICE) == 0) {
  }
  meet_warpgroup(barrier_number);
  for (int i = 0; i < Count; ++i) sums[i] += __ldcg(&partial_sums[slot][i][thread]);
}
