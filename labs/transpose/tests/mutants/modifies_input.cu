// transpose mutant: the right result, and in overwritten with zeros: the next user of the array
// finds it destroyed.
#include "common/lab/ceil_div.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y * tile + threadIdx.y;
  const int col = blockIdx.x * tile + threadIdx.x;
  if (row < rows && col < cols) {
    out[col * rows + row] = in[row * cols + col];
    const_cast<float*>(in)[row * cols + col] = 0;
  }
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  transpose_kernel<<<blocks, dim3(tile, tile)>>>(in, out, rows, cols);
}
