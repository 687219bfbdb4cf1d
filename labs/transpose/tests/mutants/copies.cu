// transpose mutant: moves every element to where it was: right for a single row or column.
#include "common/lab/ceil_div.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y * tile + threadIdx.y;
  const int col = blockIdx.x * tile + threadIdx.x;
  if (row < rows && col < cols) out[row * cols + col] = in[row * cols + col];
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  transpose_kernel<<<blocks, dim3(tile, tile)>>>(in, out, rows, cols);
}
