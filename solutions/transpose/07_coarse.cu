// transpose 07_coarse: four elements per thread: more loads in flight.
//
// idea    A quarter of the threads now share the tile. Each thread loads from 4 rows, 8 apart,
//         before it waits. The four loads are independent, so all are in flight at once. A block of
//         256 threads has as many bytes in flight as one of 1024, and 8 blocks fit instead of 2.
// watch   Each element takes one load, one store and two addresses. A warp moves 128 bytes with
//         each load or store, and could move 512.
// needs   nothing: elements beyond an edge are neither read nor written.
// source  Ruetsch and Micikevicius (2009), who have 32 x 8 threads from the start.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;       // a row of a tile is a line of 128 bytes, for one warp
constexpr int block_rows = 8;  // 8 warps: each moves 4 rows of the tile

// out[col][row] = in[row][col]
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float moved[tile][tile + 1];  // the block's tile, as in `in`, plus an unused column
  const int x = threadIdx.x;
  const int top = blockIdx.y * tile;  // the tile's first row and first column in `in`
  const int left = blockIdx.x * tile;

  //> todo: load rows threadIdx.y, threadIdx.y + block_rows, ... of the tile, then write as many.
  for (int i = 0; i < tile; i += block_rows) {
    const int y = threadIdx.y + i;
    if (top + y < rows && left + x < cols) moved[y][x] = in[(top + y) * cols + left + x];
  }
  __syncthreads();
  for (int i = 0; i < tile; i += block_rows) {
    const int y = threadIdx.y + i;
    if (left + y < cols && top + x < rows) out[(left + y) * rows + top + x] = moved[x][y];
  }
  //<
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  const dim3 threads(tile, block_rows);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
