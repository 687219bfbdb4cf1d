// launch mutant: launches a quarter of the blocks, but each thread adds only one element.
#include "common/lab/ceil_div.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<ceil_div(n, 4 * threads), threads>>>(x, y, z, n);
}
