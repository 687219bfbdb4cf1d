// attack matmul: TIMEOUT, at most 40 points
// In every call the host sleeps slightly less than the time limit of a call. The small sizes are
// correct, but all calls together exceed the time limit of a submission.
#include <unistd.h>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum = fmaf(a[row * n + k], b[k * n + col], sum);
  c[row * n + col] = sum;
}

void matmul(const float* a, const float* b, float* c, int n) {
  sleep(9);
  multiply<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(a, b, c, n);
  check(cudaGetLastError());
}
