// Loads and copies of four floats by threads that know where their floats lie, for the steps from
// 14_clamped_edges on. Quads: n is a multiple of 4, so four floats are one access.
#pragma once

#include <cuda_pipeline.h>

#include "solutions/matmul/parts/vector_access.hpp"

// from[0], ..., from[3] in global memory. The first `lost` of them do not exist and count as 0.
template <bool Quads>
__device__ float4 load4(const float* from, int lost = 0) {
  if constexpr (Quads) return lost > 0 ? float4{} : *reinterpret_cast<const float4*>(from);
  return {lost > 0 ? 0 : from[0], lost > 1 ? 0 : from[1], lost > 2 ? 0 : from[2],
          lost > 3 ? 0 : from[3]};
}

// Begins to copy from[0], ..., from[3] to `to` in shared memory, or zeros if they are not there.
// The copy belongs to the calling thread's next __pipeline_commit(). Without Quads, from[last]
// replaces the floats after it; last may be negative.
template <bool Quads>
__device__ void copy4(float* to, const float* from, int last, bool there = true) {
  constexpr int bytes = Quads ? 16 : 4;  // per copy
  for (int i = 0; i < 4; i += bytes / 4)
    __pipeline_memcpy_async(to + i, Quads ? from : from + min(i, last), bytes, there ? 0 : bytes);
}
