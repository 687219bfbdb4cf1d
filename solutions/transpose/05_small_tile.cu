// transpose 05_small_tile: only a quarter as many threads wait at each barrier.
//
// idea    Little's law: bytes in flight = bandwidth x latency. A block that waits for its slowest
//         load has nothing in flight. With 256 threads instead of 1024, fewer threads wait for each
//         other, and a multiprocessor holds 8 blocks instead of 2: some load while others wait.
// watch   A warp now covers two rows of 64 bytes: it uses whole sectors, but half lines. In shared
//         memory, 8 lanes share a bank instead of 32, so two things improve at once. Compare
//         06_padded with 04_tiled to see the effect of the banks alone. A block moves 2 KB, so it
//         takes many blocks to have much in flight.
// needs   nothing: elements beyond an edge are neither read nor written.
// source  "GPU program optimisation (3): matrix transposition" (2016), "tiled (K = 16)".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

//> todo: choose a tile with a quarter of the threads per barrier; write transpose_kernel for it.
constexpr int tile = 16;  // a row of a tile is two sectors; 8 warps share a barrier

// out[col][row] = in[row][col]
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float moved[tile][tile];  // the block's tile, as in `in`
  const int x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * tile;  // the tile's first row and first column in `in`
  const int left = blockIdx.x * tile;

  if (top + y < rows && left + x < cols) moved[y][x] = in[(top + y) * cols + left + x];
  __syncthreads();
  if (left + y < cols && top + x < rows) out[(left + y) * rows + top + x] = moved[x][y];
}
//<

void transpose(const float* in, float* out, int rows, int cols) {
  //> todo: launch it with one block per tile.
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  const dim3 threads(tile, tile);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  //<
  check(cudaGetLastError());
}
