// transpose 06_padded: one unused column: a column of the tile spreads over all banks.
//
// idea    Rows have 33 words: moved[x][y] is word 33 x + y, in bank (x + y) % 32. Lanes 0 to 31
//         use 32 banks, both along a row and down a column. The last word of a row is never used.
//         Swizzling needs no such word: element (y, x) is at moved[y][x ^ y]. A tile of 16 has 2
//         rows per warp. There, 17 words leave 2 lanes in one bank, and x ^ (y & 14) leaves none.
// watch   Every thread has one load in flight, waits at the barrier, and stores once. The step is a
//         little slower than 05_small_tile, so the barrier matters more than the banks.
// needs   nothing: elements beyond an edge are neither read nor written.
// source  G. Ruetsch, P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009).
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;  // a block has a warp for each of 32 rows

// out[col][row] = in[row][col]
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  //> todo: declare `moved`, a tile whose rows and columns both spread over all 32 banks.
  __shared__ float moved[tile][tile + 1];  // the block's tile, as in `in`, plus an unused column
  //<
  const int x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * tile;  // the tile's first row and first column in `in`
  const int left = blockIdx.x * tile;

  //> todo: transpose the block's tile in `moved`.
  if (top + y < rows && left + x < cols) moved[y][x] = in[(top + y) * cols + left + x];
  __syncthreads();
  if (left + y < cols && top + x < rows) out[(left + y) * rows + top + x] = moved[x][y];
  //<
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  const dim3 threads(tile, tile);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
