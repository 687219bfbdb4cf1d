// attack matmul: TIMEOUT, at most 0 points
// Like 93, but the program calls the device again and again, longest at the large sizes, where the
// limit is higher. The budget runs out while results are still being checked.
#include <time.h>

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

static double now_s() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

void matmul(const float* a, const float* b, float* c, int n) {
  for (const double end_s = now_s() + (n < 300 ? 7 : 50); now_s() < end_s;)
    check(cudaDeviceSynchronize());
  multiply<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(a, b, c, n);
  check(cudaGetLastError());
}
