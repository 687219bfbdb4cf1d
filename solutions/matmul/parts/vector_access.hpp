// Four floats at a time, from matrices of any size: what 08_vector_loads to 10_two_buffers spell
// out, for the steps that build on them.
//
// idea    A piece is m[row][col], ..., m[row][col + 3] of a row-major n x n matrix in global
//         memory; col is a multiple of 4. If n is one too, a piece lies at a multiple of 16 bytes,
//         wholly inside the matrix or wholly outside, and is one access.
#pragma once

#include <cuda_pipeline.h>

// Four floats, the first of which lies at a multiple of 16 bytes, in any memory.
__device__ inline float4& four(float& first) { return reinterpret_cast<float4&>(first); }

// The piece, by loads from global memory; what lies outside counts as 0. row and col are not
// negative.
__device__ inline float4 load4(const float* m, int row, int col, int n) {
  if (row >= n || col >= n) return {0, 0, 0, 0};
  const float* at = m + row * n + col;
  if (n % 4 == 0) return *reinterpret_cast<const float4*>(at);
  return {at[0], col + 1 < n ? at[1] : 0, col + 2 < n ? at[2] : 0, col + 3 < n ? at[3] : 0};
}

// Begins to copy the piece to `to` in shared memory, a multiple of 16 bytes; what of it lies
// outside counts as 0. The copy belongs to the calling thread's next __pipeline_commit().
__device__ inline void copy4(float* to, const float* m, int row, int col, int n) {
  const float* at = m + row * n + col;
  if (n % 4 == 0) {
    const bool inside = row < n && col < n;
    __pipeline_memcpy_async(to, inside ? at : m, 16, inside ? 0 : 16);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    const bool inside = row < n && col + i < n;
    __pipeline_memcpy_async(to + i, inside ? at + i : m, 4, inside ? 0 : 4);
  }
}

// For threads that know where their piece lies. Quads: n is a multiple of 4.

// at[0], ..., at[3] in global memory; the first `missing` of them are not there and count as 0.
template <bool Quads>
__device__ float4 load4(const float* at, int missing = 0) {
  if constexpr (Quads) {
    return missing > 0 ? float4{0, 0, 0, 0} : *reinterpret_cast<const float4*>(at);
  } else {
    return {missing > 0 ? 0 : at[0], missing > 1 ? 0 : at[1], missing > 2 ? 0 : at[2],
            missing > 3 ? 0 : at[3]};
  }
}

// Begins to copy at[0], ..., at[3] to `to` in shared memory, or zeros if they are not there.
// Without Quads: at[last] instead of what lies behind it; last may be negative.
template <bool Quads>
__device__ void copy4(float* to, const float* at, int last, bool there = true) {
  if constexpr (Quads) {
    __pipeline_memcpy_async(to, at, 16, there ? 0 : 16);
  } else {
    for (int i = 0; i < 4; ++i)
      __pipeline_memcpy_async(to + i, at + (i < last ? i : last), 4, there ? 0 : 4);
  }
}
