// Given: stores the sums of mma.sync and wgmma from the registers that hold them.
#pragma once

#include "labs/gemm/gemm.hpp"

// Rounds two sums of neighbouring columns and stores them, if they lie in the m x n matrix.
__device__ inline void store_pair(__nv_bfloat16* c, int row, int col, int m, int n, float left,
                                  float right) {
  if (row < m && col < n)
    reinterpret_cast<__nv_bfloat162&>(c[row * n + col]) = __floats2bfloat162_rn(left, right);
}

// Stores the 64 x Cols sums of a warpgroup to c from (row, col) on, except those outside the
// matrix.
template <int Cols>
__device__ void store_sums(__nv_bfloat16* c, int row, int col, int m, int n,
                           const float (&sums)[Cols / 2]) {
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  for (int i = 0; i < Cols / 2; i += 2) {
    const int y = warp * 16 + lane / 4 + i / 2 % 2 * 8, x = i / 4 * 8 + lane % 4 * 2;
    store_pair(c, row + y, col + x, m, n, sums[i], sums[i + 1]);
  }
}
