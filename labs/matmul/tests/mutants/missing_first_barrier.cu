// matmul mutant: has no barrier between loading the tiles and using them, so warps use elements
// that other warps have not loaded yet.
#include "common/lab/ceil_div.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int tile = 16;

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[tile][tile], b_tile[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty, col = blockIdx.x * tile + tx;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += tile) {
    a_tile[ty][tx] = row < n && k0 + tx < n ? a[row * n + k0 + tx] : 0;
    b_tile[ty][tx] = k0 + ty < n && col < n ? b[(k0 + ty) * n + col] : 0;
    for (int k = 0; k < tile; ++k) sum = fmaf(a_tile[ty][k], b_tile[k][tx], sum);
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, tile), ceil_div(n, tile));
  matmul_kernel<<<grid, dim3(tile, tile)>>>(a, b, c, n);
}
