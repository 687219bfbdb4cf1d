// gemm 04_mma: ldmatrix and mma.sync, whose registers have a documented layout.
//
// idea    With wmma, the sums must be stored to shared memory, because their place in the registers
//         is unknown. mma.sync has a documented layout (warp_mma.hpp). A thread holds pairs of
//         neighbouring columns, so it rounds and stores them from registers.
// watch   A fragment of b is 16 x 8 and column-major, but the tile is row-major. ldmatrix.trans
//         exchanges rows and columns of each 8 x 8 matrix while it loads.
// needs   Any contract sizes.
// source  PTX ISA 9.1, "Matrix Fragments for mma.m16n8k16" and "ldmatrix".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/chunks.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/store_fragments.hpp"
#include "labs/gemm/warp_mma.hpp"

constexpr int rows = 128, cols = 128;  // of c per block
constexpr int depth = 64;              // columns of a, rows of b, between two barriers
constexpr int warps_y = 2, warps_x = 4, threads = warps_y * warps_x * 32;
constexpr int warp_rows = rows / warps_y, warp_cols = cols / warps_x;
constexpr int tiles_y = warp_rows / 16, tiles_x = warp_cols / 8;  // fragments of a warp's sums
constexpr int padding = 8;

__global__ void __launch_bounds__(threads)
    gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                int k) {
  __shared__ alignas(16) __nv_bfloat16 a_tile[rows][depth + padding];
  __shared__ alignas(16) __nv_bfloat16 b_tile[depth][cols + padding];
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int warp_row = warp / warps_x * warp_rows, warp_col = warp % warps_x * warp_cols;
  fragment_c sums[tiles_y][tiles_x] = {};
  for (int k0 = 0; k0 < k; k0 += depth) {
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
#pragma unroll
    for (int i = 0; i < depth; i += 16) {
      fragment_a a_tiles[tiles_y];
      fragment_b b_tiles[tiles_x / 2];
      //> todo: load the fragments. Every lane passes the address of one row of 8 elements.
      const int y = lane % 16, x = lane / 16 * 8;
      for (int j = 0; j < tiles_y; ++j)
        load_fragment(a_tiles[j], &a_tile[warp_row + j * 16 + y][i + x]);
      for (int j = 0; j < tiles_x / 2; ++j)
        load_fragment(b_tiles[j], &b_tile[i + y][warp_col + j * 16 + x]);
      //<
      for (int y = 0; y < tiles_y; ++y) {
        for (int x = 0; x < tiles_x; ++x)
          multiply_add(sums[y][x], a_tiles[y], b_tiles[x / 2], x % 2);
      }
    }
  }
  for (int y = 0; y < tiles_y; ++y) {
    for (int x = 0; x < tiles_x; ++x) {
      const int row = row0 + warp_row + y * 16 + lane / 4;
      const int col = col0 + warp_col + x * 8 + lane % 4 * 2;
      store_pair(c, row, col, m, n, sums[y][x].sums[0], sums[y][x].sums[1]);
      store_pair(c, row + 8, col, m, n, sums[y][x].sums[2], sums[y][x].sums[3]);
    }
  }
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const dim3 grid(ceil_div(n, cols), ceil_div(m, rows));
  gemm_kernel<<<grid, threads>>>(a, b, c, m, n, k);
  check(cudaGetLastError());
}
