// transpose 06_padded, compute only: the path through shared memory, no access to global memory.
//
// keeps   All work on the multiprocessor: tests, indices, the tile in shared memory, the barrier
//         for 1024 threads. It moves the index of an element, as the bits of a float, instead of
//         the element. That costs no instruction.
// lacks   The load and the store. `zero` is 0, but the compiler does not know that, so the kernel
//         must fetch the float from the tile to find out that it is not stored.
// holds   2 blocks of 1024 threads, all that a multiprocessor holds, as in the step.
// A yardstick for `./lab limits transpose`: its result is wrong. Tested by
// labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;  // a row of a tile is a line of 128 bytes, for one warp

__global__ void transpose_kernel(float* out, int rows, int cols, float zero) {
  __shared__ float moved[tile][tile + 1];  // the block's tile, as in `in`, plus an unused column
  const int x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * tile;  // the tile's first row and first column in `in`
  const int left = blockIdx.x * tile;

  if (top + y < rows && left + x < cols) moved[y][x] = __int_as_float((top + y) * cols + left + x);
  __syncthreads();
  if (left + y < cols && top + x < rows) {
    const float turned = moved[x][y];
    if (turned * zero == 1) out[(left + y) * rows + top + x] = turned;
  }
}

void transpose(const float*, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  const dim3 threads(tile, tile);
  transpose_kernel<<<blocks, threads>>>(out, rows, cols, 0);
  check(cudaGetLastError());
}
