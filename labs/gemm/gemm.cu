// Generated from solutions/gemm/02_wmma.cu by lab start.
// gemm 02_wmma: a warp multiplies 16 x 16 tiles on a tensor core.
//
// idea    The 32 threads of a warp hold a fragment of a and one of b, and one mma_sync() adds all
//         4096 products of the two tiles to a fragment of sums. The threads of 01 need 4096
//         multiply-adds and 8192 loads for that.
// needs   Any contract sizes. Tiles that cross the edge of a matrix are staged with zeros.
// source  CUDA C++ Programming Guide, "Warp Matrix Functions"
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/wmma_tiles.hpp"

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
    // TODO: add the products of the two tiles to the sums, on a tensor core.
  }
  store_rounded(c, row, col, m, n, sums, staging[warp]);
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const dim3 grid(ceil_div(n, warps_x * tile), ceil_div(m, warps_y * tile));
  gemm_kernel<<<grid, warps_y * warps_x * 32>>>(a, b, c, m, n, k);
  check(cudaGetLastError());
}
