// matmul, correct: a block of 1024 threads per tile.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int tile = 32;  // a warp is one row of a tile; two tiles take 8 KB of shared memory

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty;
  const int col = blockIdx.x * tile + tx;

  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += tile) {
    a_tile[ty][tx] = row < n && k0 + tx < n ? a[row * n + k0 + tx] : 0;
    b_tile[ty][tx] = k0 + ty < n && col < n ? b[(k0 + ty) * n + col] : 0;
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum = fmaf(a_tile[ty][k], b_tile[k][tx], sum);
    __syncthreads();
  }

  if (row < n && col < n) c[row * n + col] = sum;
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 block(tile, tile);
  const dim3 grid(ceil_div(n, tile), ceil_div(n, tile));
  matmul_kernel<<<grid, block>>>(a, b, c, n);
  check(cudaGetLastError());
}
