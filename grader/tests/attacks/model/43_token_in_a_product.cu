// attack matmul: SLOW, at most 46 points
// There is no tile. A thread passes only its finished sum through shared memory.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int width = 32, height = 4;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ volatile float sums[height][width];
  const int col = blockIdx.x * width + threadIdx.x, row = blockIdx.y * height + threadIdx.y;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum = fmaf(a[row * n + k], b[k * n + col], sum);
  sums[threadIdx.y][threadIdx.x] = sum;
  c[row * n + col] = sums[threadIdx.y][threadIdx.x];
}

void matmul(const float* a, const float* b, float* c, int n) {
  multiply<<<dim3(ceil_div(n, width), ceil_div(n, height)), dim3(width, height)>>>(a, b, c, n);
  check(cudaGetLastError());
}
