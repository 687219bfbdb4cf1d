// Accesses four floats at a time in matrices of any size, as spelled out in 08_vector_loads, for
// the steps from 14_clamped_edges on.
//
// idea    A piece is m[row][col], ..., m[row][col + 3] of a row-major n x n matrix in global
//         memory; col is a multiple of 4. If n is a multiple of 4, too, a piece lies at a multiple
//         of 16 bytes, is wholly inside the matrix or wholly outside, and is one access.
#pragma once

// Four floats, the first of which lies at a multiple of 16 bytes, in any memory.
__device__ inline float4& as_float4(float& first) { return reinterpret_cast<float4&>(first); }

// Loads the piece from global memory. Elements outside the matrix count as 0. row and
// col must not be negative.
__device__ inline float4 load4(const float* m, int row, int col, int n) {
  if (row >= n || col >= n) return {0, 0, 0, 0};
  const float* first = m + row * n + col;
  if (n % 4 == 0) return *reinterpret_cast<const float4*>(first);
  return {first[0], col + 1 < n ? first[1] : 0, col + 2 < n ? first[2] : 0,
          col + 3 < n ? first[3] : 0};
}
