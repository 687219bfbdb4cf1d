// Stores the sums of all slices in the end, as spelled out in 26_small_tiles, for the steps from
// 28_tiles_inside on.
#pragma once

#include "solutions/matmul/parts/tile_size.hpp"

// Each slice adds up and stores every `slices`-th of a thread's sums. space: the thread's first
// float in slices * thread_rows * thread_tile * threads floats of shared memory. row and col: the
// place of the thread's first sum. is_stored(row, col): whether that element of c is stored. All
// threads of the block call it.
template <int slices, int threads, int thread_rows, class Place, class IsStored>
__device__ void store_slices(const float (&sum)[thread_rows][thread_tile], float* space, int slice,
                             const Place& place, float* c, int n, int row, int col,
                             const IsStored& is_stored) {
  constexpr int sums = thread_rows * thread_tile;
  __syncthreads();  // no thread needs the tiles any more
  for (int e = 0; e < sums; ++e)
    space[(slice * sums + e) * threads] = sum[e / thread_tile][e % thread_tile];
  __syncthreads();                          // all sums are stored
  for (int i = 0; i < sums; i += slices) {  // constant bounds: all loads in flight
    const int e = i + slice;
    float total = 0;
    for (int s = 0; s < slices; ++s) total += space[(s * sums + e) * threads];
    const int y = row + place.below(e / thread_tile), x = col + place.right(e % thread_tile);
    if (is_stored(y, x)) c[static_cast<long long>(y) * n + x] = total;
  }
}
