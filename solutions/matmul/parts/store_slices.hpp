// The sums of all slices, added up and stored by all of them: what 26_small_tiles spells out, for
// the steps that build on it.
#pragma once

#include "solutions/matmul/parts/tile_size.hpp"

// Each slice adds up and stores one in `slices` of a thread's sums. space: in shared memory, the
// thread's first float of slices * part * part * threads. The thread's first sum is that of row and
// col. is_stored(row, col): whether that element of c is stored. All threads of the block call it.
template <int slices, int threads, class Place, class IsStored>
__device__ void store_slices(const float (&sum)[part][part], float* space, int slice,
                             const Place& place, float* c, int n, int row, int col,
                             const IsStored& is_stored) {
  __syncthreads();  // the tiles are done with
  for (int e = 0; e < part * part; ++e)
    space[(slice * part * part + e) * threads] = sum[e / part][e % part];
  __syncthreads();                                 // the sums are there
  for (int i = 0; i < part * part; i += slices) {  // constant bounds: all loads in flight
    const int e = i + slice;
    float total = 0;
    for (int s = 0; s < slices; ++s) total += space[(s * part * part + e) * threads];
    const int y = row + place.below(e / part), x = col + place.right(e % part);
    if (is_stored(y, x)) c[static_cast<long long>(y) * n + x] = total;
  }
}
