// launch mutant: adds only whole float4s, so no thread adds the last one to three elements.
#include "common/lab/ceil_div.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (4 * i + 3 >= n) return;
  const float4 a = reinterpret_cast<const float4*>(x)[i];
  const float4 b = reinterpret_cast<const float4*>(y)[i];
  reinterpret_cast<float4*>(z)[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<ceil_div(n, 4 * threads), threads>>>(x, y, z, n);
}
