// launch mutant: launches n / threads blocks, so the elements of a partial block are left out.
#include "common/lab/ceil_div.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  const int blocks = n < threads ? 1 : n / threads;
  add_kernel<<<blocks, threads>>>(x, y, z, n);
}
