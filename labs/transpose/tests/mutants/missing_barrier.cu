// transpose mutant: has no barrier, so a warp stores elements that other warps have not loaded yet.
#include "common/lab/ceil_div.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float moved[tile][tile + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * tile, left = blockIdx.x * tile;
  if (top + y < rows && left + x < cols) moved[y][x] = in[(top + y) * cols + left + x];
  if (left + y < cols && top + x < rows) out[(left + y) * rows + top + x] = moved[x][y];
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  transpose_kernel<<<blocks, dim3(tile, tile)>>>(in, out, rows, cols);
}
