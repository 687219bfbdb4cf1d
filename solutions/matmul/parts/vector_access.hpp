// Four floats at a time, from matrices of any size: what 08_vector_loads spells out, for the steps
// that build on it.
//
// idea    A piece is m[row][col], ..., m[row][col + 3] of a row-major n x n matrix in global
//         memory; col is a multiple of 4. If n is one too, a piece lies at a multiple of 16 bytes,
//         wholly inside the matrix or wholly outside, and is one access.
#pragma once

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
