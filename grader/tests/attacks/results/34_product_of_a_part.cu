// attack matmul: WRONG, at most 0 points
// computes full sums at the sizes of the checks, but only a sixteenth where time is modelled
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

__global__ void multiply(const float* a, const float* b, float* c, int n, int terms) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (col >= n) return;
  float sum = 0;
  for (int k = 0; k < terms; ++k) sum = fmaf(a[row * n + k], b[k * n + col], sum);
  c[row * n + col] = sum;
}

void matmul(const float* a, const float* b, float* c, int n) {
  multiply<<<dim3((n + 127) / 128, n), 128>>>(a, b, c, n, n > 1024 ? n / 16 : n);
  check(cudaGetLastError());
}
