// One slice adds up the sums of all slices, for 24_sliced_k and 25_zero_edges.
#pragma once

// Adds the sums of the other slices' threads with the same tid to those of slice 0. space:
// 64 * (slices - 1) * threads floats in shared memory that no thread needs any more. All
// threads of all slices take part.
template <int slices, int threads>
__device__ void add_slices(float (&sum)[8][8], float* space, int slice, int tid) {
  if constexpr (slices > 1) {
    __syncthreads();  // no thread needs the tiles any more
    for (int e = 0; e < 64 && slice > 0; ++e)
      space[(64 * (slice - 1) + e) * threads + tid] = sum[e / 8][e % 8];
    __syncthreads();  // all sums are stored
    for (int e = 0; e < 64 && slice == 0; ++e)
      for (int other = 0; other < slices - 1; ++other)
        sum[e / 8][e % 8] += space[(64 * other + e) * threads + tid];
  }
}
