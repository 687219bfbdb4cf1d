// launch mutant: a thread adds four consecutive elements, but the next thread begins one later.
#include "common/lab/ceil_div.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int first = blockIdx.x * (4 * threads) + threadIdx.x;
  for (int i = first; i < first + 4 && i < n; ++i) z[i] = x[i] + y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<ceil_div(n, 4 * threads), threads>>>(x, y, z, n);
}
