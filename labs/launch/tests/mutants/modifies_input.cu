// launch mutant: stores the right sums in y, too, so that the next user of y is wrong.
#include "common/lab/ceil_div.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) z[i] = const_cast<float*>(y)[i] += x[i];
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<ceil_div(n, threads), threads>>>(x, y, z, n);
}
