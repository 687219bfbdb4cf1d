// transpose 06_padded, memory only: rows of in are read and rows of out written, not transposed.
//
// keeps   Every access to global memory: it reads the same rows of in and writes the same rows of
//         out, 32 neighbours at a time. It is a copy with the step's pattern of addresses.
// lacks   The path through shared memory and the wait for the block: a thread stores the element
//         that it has loaded itself.
// holds   2 blocks of 1024 threads, all that a multiprocessor holds, as in the step.
// A yardstick for `./lab limits transpose`: its result is wrong. Tested by
// labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;  // a row of a tile is a line of 128 bytes, for one warp

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * tile;  // the tile's first row and first column in `in`
  const int left = blockIdx.x * tile;

  float moved = 0;
  if (top + y < rows && left + x < cols) moved = in[(top + y) * cols + left + x];
  if (left + y < cols && top + x < rows) out[(left + y) * rows + top + x] = moved;
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  const dim3 threads(tile, tile);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
