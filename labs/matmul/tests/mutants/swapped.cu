// matmul mutant: multiplies b by a: the order of the factors matters.
#include "common/lab/ceil_div.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int tile = 16;

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * tile + threadIdx.y, col = blockIdx.x * tile + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum = fmaf(a[row * n + k], b[k * n + col], sum);
  c[row * n + col] = sum;
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, tile), ceil_div(n, tile));
  matmul_kernel<<<grid, dim3(tile, tile)>>>(b, a, c, n);
}
