// gemm, correct: a warp per tile, with wmma.
#include <mma.h>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
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

// Stores a warp's sums to c from (row, col), without those outside the m x n matrix. wmma does not
// say which thread has which sum, so they go through `staging`, shared memory for tile * tile
// floats.
__device__ void store_rounded(__nv_bfloat16* c, int row, int col, int m, int n,
                              const sum_fragment& sums, float* staging) {
  nvcuda::wmma::store_matrix_sync(staging, sums, tile, nvcuda::wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x % 32; i < tile * tile; i += 32) {
    const int y = row + i / tile, x = col + i % tile;
    if (y < m && x < n) c[y * n + x] = __float2bfloat16(staging[i]);
  }
  __syncwarp();  // all have read before the next sums are staged
}

constexpr int warps_y = 2, warps_x = 2;  // of a block, each with one tile of c

// Loads the tile from (row, col) of a rows x cols matrix, with zeros outside.
template <class Fragment>
__device__ void load_tile(Fragment& fragment, const __nv_bfloat16* matrix, int row, int col,
                          int rows, int cols, __nv_bfloat16* staging) {
  if (row + tile <= rows && col + tile <= cols) {
    load_matrix_sync(fragment, matrix + row * cols + col, cols);
    return;
  }
  for (int i = threadIdx.x % 32; i < tile * tile; i += 32) {
    const int y = row + i / tile, x = col + i % tile;
    staging[i] = y < rows && x < cols ? matrix[y * cols + x] : __nv_bfloat16(0);
  }
  __syncwarp();
  load_matrix_sync(fragment, staging, tile);
  __syncwarp();
}

__global__ void gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                            int n, int k) {
  __shared__ alignas(32) __nv_bfloat16 edges[warps_y * warps_x][tile * tile];
  __shared__ alignas(32) float staging[warps_y * warps_x][tile * tile];
  const int warp = threadIdx.x / 32;
  const int row = (blockIdx.y * warps_y + warp / warps_x) * tile;
  const int col = (blockIdx.x * warps_x + warp % warps_x) * tile;
  if (row >= m || col >= n) return;  // all threads of the warp
  sum_fragment sums;
  fill_fragment(sums, 0);
  for (int i = 0; i < k; i += tile) {
    a_fragment a_tile;
    b_fragment b_tile;
    load_tile(a_tile, a, row, i, m, k, edges[warp]);
    load_tile(b_tile, b, i, col, k, n, edges[warp]);
    mma_sync(sums, a_tile, b_tile, sums);
  }
  store_rounded(c, row, col, m, n, sums, staging[warp]);
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const dim3 grid(ceil_div(n, warps_x * tile), ceil_div(m, warps_y * tile));
  gemm_kernel<<<grid, warps_y * warps_x * 32>>>(a, b, c, m, n, k);
  check(cudaGetLastError());
}
