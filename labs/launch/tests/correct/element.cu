// launch, correct: a thread per element.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  z[i] = x[i] + y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  const int blocks = ceil_div(n, threads);
  add_kernel<<<blocks, threads>>>(x, y, z, n);
  check(cudaGetLastError());
}
