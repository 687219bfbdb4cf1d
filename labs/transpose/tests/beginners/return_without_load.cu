// transpose, a beginner's mistake: a thread whose load is outside in returns before the barrier and
// its store.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float buf[tile][tile + 1];
  const int row = blockIdx.y * tile + threadIdx.y;
  const int col = blockIdx.x * tile + threadIdx.x;
  if (row >= rows || col >= cols) return;
  buf[threadIdx.y][threadIdx.x] = in[row * cols + col];
  __syncthreads();
  const int orow = blockIdx.x * tile + threadIdx.y;
  const int ocol = blockIdx.y * tile + threadIdx.x;
  if (orow < cols && ocol < rows) out[orow * rows + ocol] = buf[threadIdx.x][threadIdx.y];
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  const dim3 threads(tile, tile);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
