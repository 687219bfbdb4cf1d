// transpose, correct: a thread moves four elements of a tile.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;
constexpr int step = 8;

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float buf[tile][tile + 1];
  const int row0 = blockIdx.y * tile;
  const int col0 = blockIdx.x * tile;
  const int col = col0 + threadIdx.x;
#pragma unroll
  for (int j = threadIdx.y; j < tile; j += step)
    if (row0 + j < rows && col < cols) buf[j][threadIdx.x] = in[(row0 + j) * cols + col];
  __syncthreads();
  const int ocol = row0 + threadIdx.x;
#pragma unroll
  for (int j = threadIdx.y; j < tile; j += step)
    if (col0 + j < cols && ocol < rows) out[(col0 + j) * rows + ocol] = buf[threadIdx.x][j];
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  const dim3 threads(tile, step);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
