// gemm 05_swizzle: chunks are permuted within their rows, and no row is padded.
//
// idea    ldmatrix reads 8 rows at one column. With rows of 128 bytes, the 8 chunks of 16 bytes
//         would lie in the same four banks. If row r stores its chunk i at i ^ (r % 8), they lie in
//         8 different groups of banks. An XOR replaces the padding, and tiles have the size of
//         their data.
// watch   Every access must use the permutation, both the copy and ldmatrix. Fragments begin at
//         rows that are multiples of 8, so r % 8 is the same for all fragments of a lane.
// gain    None by itself: the XOR is part of every address. The ring of 06 needs the memory that
//         the padding took, and TMA and wgmma support this layout, but not padding.
// needs   Any contract sizes.
// source  PTX ISA 9.1, "Swizzling Modes": the mode of 128 bytes.
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

// The place of the chunk that holds element (row, col), in a tile with rows of Cols elements.
template <int Cols>
__device__ int swizzled(int row, int col) {
  //> todo: permute the chunks of a row, so that 8 rows of one column lie in different banks.
  return row * Cols + (col / chunk ^ row % 8) * chunk;
  //<
}

__global__ void __launch_bounds__(threads, 2)  // 2 blocks at once: 128 registers per thread
    gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                int k) {
  __shared__ alignas(16) __nv_bfloat16 a_tile[rows * depth];
  __shared__ alignas(16) __nv_bfloat16 b_tile[depth * cols];
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int warp_row = warp / warps_x * warp_rows, warp_col = warp % warps_x * warp_cols;
  fragment_c sums[tiles_y][tiles_x] = {};
  for (int k0 = 0; k0 < k; k0 += depth) {
    __syncthreads();
    for (int i = tid * chunk; i < rows * depth; i += threads * chunk) {
      const int y = i / depth, x = i % depth;
      reinterpret_cast<uint4&>(a_tile[swizzled<depth>(y, x)]) =
          load_chunk(a, row0 + y, k0 + x, m, k);
    }
    for (int i = tid * chunk; i < depth * cols; i += threads * chunk) {
      const int y = i / cols, x = i % cols;
      reinterpret_cast<uint4&>(b_tile[swizzled<cols>(y, x)]) =
          load_chunk(b, k0 + y, col0 + x, k, n);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < depth; i += 16) {
      fragment_a a_tiles[tiles_y];
      fragment_b b_tiles[tiles_x / 2];
      const int y = lane % 16, x = lane / 16 * 8;
      for (int j = 0; j < tiles_y; ++j)
        load_fragment(a_tiles[j], &a_tile[swizzled<depth>(warp_row + j * 16 + y, i + x)]);
      for (int j = 0; j < tiles_x / 2; ++j)
        load_fragment(b_tiles[j], &b_tile[swizzled<cols>(i + y, warp_col + j * 16 + x)]);
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
