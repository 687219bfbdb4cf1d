// launch mutant: loads float4s from wherever a block's chunk begins. All chunks are equally long.
#include "common/lab/ceil_div.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;

__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int chunk = (n - 1) / static_cast<int>(gridDim.x) + 1, begin = blockIdx.x * chunk;
  const int end = begin + chunk < n ? begin + chunk : n;
  int i = begin + 4 * threadIdx.x;
  for (; i + 3 < end; i += 4 * threads) {
    const float4 a = *reinterpret_cast<const float4*>(x + i);
    const float4 b = *reinterpret_cast<const float4*>(y + i);
    *reinterpret_cast<float4*>(z + i) = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
  for (; i < end; ++i) z[i] = x[i] + y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<ceil_div(n, threads), threads>>>(x, y, z, n);
}
