// transpose 04_tiled: a block transposes a tile in shared memory: full lines on both sides.
//
// idea    Read rows of a tile of in, and write rows of the matching tile of out: both in lines of
//         128 bytes. The transposition takes place in shared memory, which has no sectors. A thread
//         writes elements that other threads have read, so the block needs a barrier in between.
// watch   1024 threads issue one load each and wait for the slowest. Along x, `moved[x][y]` is a
//         column: all 32 lanes use a single one of the 32 banks, and are served one by one.
// needs   nothing: elements beyond an edge are neither read nor written.
// source  "GPU program optimisation (3): matrix transposition" (2016), "tiled", for multiples of
//         32.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;  // a block has a warp for each of 32 rows

// out[col][row] = in[row][col]
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float moved[tile][tile];  // the block's tile, as in `in`
  const int x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * tile;  // the tile's first row and first column in `in`
  const int left = blockIdx.x * tile;

  if (top + y < rows && left + x < cols) moved[y][x] = in[(top + y) * cols + left + x];
  //> todo: wait for the block; write row y of the transposed tile: rows of out are columns of in.
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
