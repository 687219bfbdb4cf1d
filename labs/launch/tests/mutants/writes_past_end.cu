// launch mutant: guards the loads, but not the store.
#include "common/lab/ceil_div.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  const float sum = i < n ? x[i] + y[i] : 0;
  z[i] = sum;
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<ceil_div(n, threads), threads>>>(x, y, z, n);
}
