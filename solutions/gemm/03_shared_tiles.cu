// gemm 03_shared_tiles: eight warps share tiles in shared memory.
//
// idea    A block copies 128 x 64 elements of a and 64 x 128 of b to shared memory, and computes
//         128 x 128 sums. Each element that is loaded once from global memory serves 128 sums. A
//         warp computes 64 x 32 of them, or 4 x 2 fragments, so each fragment from shared memory is
//         used two or four times.
// watch   Rows are padded by 16 bytes. Without padding, the 8 rows that an instruction reads at
//         once would lie in the same banks.
// needs   Any contract sizes.
// source  CUDA C++ Programming Guide, "Shared Memory" and "Warp Matrix Functions".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/chunks.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/wmma_tiles.hpp"

constexpr int rows = 128, cols = 128;  // of c per block
constexpr int depth = 64;              // columns of a, rows of b, between two barriers
constexpr int warps_y = 2, warps_x = 4, threads = warps_y * warps_x * 32;
constexpr int tiles_y = rows / warps_y / tile, tiles_x = cols / warps_x / tile;  // of a warp
constexpr int padding = 8;

__global__ void __launch_bounds__(threads)
    gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                int k) {
  __shared__ alignas(32) __nv_bfloat16 a_tile[rows][depth + padding];
  __shared__ alignas(32) __nv_bfloat16 b_tile[depth][cols + padding];
  __shared__ alignas(32) float staging[threads / 32][tile * tile];
  const int tid = threadIdx.x, warp = tid / 32;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int warp_row = warp / warps_x * tiles_y * tile, warp_col = warp % warps_x * tiles_x * tile;
  sum_fragment sums[tiles_y][tiles_x];
  for (auto& row : sums) {
    for (auto& sum : row) fill_fragment(sum, 0);
  }
  for (int k0 = 0; k0 < k; k0 += depth) {
    //> todo: copy the tiles from k0 in chunks of 16 bytes, with barriers before and after.
    __syncthreads();
    for (int i = tid * chunk; i < rows * depth; i += threads * chunk) {
      const int y = i / depth, x = i % depth;
      reinterpret_cast<uint4&>(a_tile[y][x]) = load_chunk(a, row0 + y, k0 + x, m, k);
    }
    for (int i = tid * chunk; i < depth * cols; i += threads * chunk) {
      const int y = i / cols, x = i % cols;
      reinterpret_cast<uint4&>(b_tile[y][x]) = load_chunk(b, k0 + y, col0 + x, k, n);
    }
    __syncthreads();
    //<
    for (int i = 0; i < depth; i += tile) {
      a_fragment a_tiles[tiles_y];
      for (int y = 0; y < tiles_y; ++y)
        load_matrix_sync(a_tiles[y], &a_tile[warp_row + y * tile][i], depth + padding);
      for (int x = 0; x < tiles_x; ++x) {
        b_fragment fragment;
        load_matrix_sync(fragment, &b_tile[i][warp_col + x * tile], cols + padding);
        for (int y = 0; y < tiles_y; ++y) mma_sync(sums[y][x], a_tiles[y], fragment, sums[y][x]);
      }
    }
  }
  for (int y = 0; y < tiles_y; ++y) {
    for (int x = 0; x < tiles_x; ++x)
      store_rounded(c, row0 + warp_row + y * tile, col0 + warp_col + x * tile, m, n, sums[y][x],
                    staging[warp]);
  }
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const dim3 grid(ceil_div(n, cols), ceil_div(m, rows));
  gemm_kernel<<<grid, threads>>>(a, b, c, m, n, k);
  check(cudaGetLastError());
}
