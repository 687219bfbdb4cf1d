// transpose, a beginner's mistake: a block for every row, but a grid has at most 65535 along y.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y;
  const int col = blockIdx.x * tile + threadIdx.x;
  if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), rows);
  const dim3 threads(tile);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
