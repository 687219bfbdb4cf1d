// launch mutant: rounds the stride down to 0, so a thread never leaves its element.
#include "common/lab/ceil_div.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x / 5 * threads)
    z[i] = x[i] + y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<4, threads>>>(x, y, z, n);
}
