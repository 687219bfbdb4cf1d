// launch mutant: launches a grid that fills an H200, but has no loop for larger arrays.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  const int blocks = std::min(ceil_div(n, threads), 132 * 8);
  add_kernel<<<blocks, threads>>>(x, y, z, n);
}
