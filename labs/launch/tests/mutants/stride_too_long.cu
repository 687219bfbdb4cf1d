// launch mutant: moves one element too far in every round.
#include "common/lab/ceil_div.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int stride = gridDim.x * threads + 1;
  for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += stride) z[i] = x[i] + y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<2, threads>>>(x, y, z, n);
}
