// Given: fragments of wmma, and a way to store 16 x 16 sums as bfloat16.
#pragma once

#include <mma.h>

#include "labs/gemm/gemm.hpp"

constexpr int tile = 16;  // rows and columns of a fragment

using nvcuda::wmma::fill_fragment;
using nvcuda::wmma::load_matrix_sync;
using nvcuda::wmma::mma_sync;
using a_fragment = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, tile, tile, tile, __nv_bfloat16,
                                          nvcuda::wmma::row_major>;
using b_fragment = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, tile, tile, tile, __nv_bfloat16,
                                          nvcuda::wmma::row_major>;
using sum_fragment = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, tile, tile, tile, float>;

// Stores a warp's sums to c from (row, col) on, except those outside the m x n matrix. wmma does
// not say which thread holds which sum, so they go through `staging`, shared memory for tile * tile
// floats.
__device__ inline void store_rounded(__nv_bfloat16* c, int row, int col, int m, int n,
                                     const sum_fragment& sums, float* staging) {
  nvcuda::wmma::store_matrix_sync(staging, sums, tile, nvcuda::wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x % 32; i < tile * tile; i += 32) {
    const int y = row + i / tile, x = col + i % tile;
    if (y < m && x < n) c[y * n + x] = __float2bfloat16(staging[i]);
  }
  __syncwarp();  // all have read before the next sums are staged
}
