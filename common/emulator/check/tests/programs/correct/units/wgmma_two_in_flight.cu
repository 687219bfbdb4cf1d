// Two products with accumulators of their own are in flight. The block waits for both in every
// second round, and only then uses their sums.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void multiply_constants(float* out, int rounds) {
  __shared__ alignas(128) wgmma_a a;
  __shared__ alignas(128) wgmma_b b;
  for (int i = threadIdx.x; i < 64 * 16; i += warpgroup) a[i] = __float2bfloat16(1);
  b[threadIdx.x] = __float2bfloat16(2);
  fence_proxy_async();
  __syncthreads();
  float total[4] = {}, first[4] = {}, second[4] = {};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) {
      wgmma_fence(first);
      multiply(first, describe(a), describe(b));
    } else {
      wgmma_fence(second);
      multiply(second, describe(a), describe(b));
    }
    wgmma_commit();
    if (round % 2 == 0)
      wgmma_wait<1>();
    else
      wgmma_wait<0>();
    if (round % 4 != 3) continue;
    for (int i = 0; i < 4; ++i) {
      total[i] += first[i] + second[i];
      first[i] = second[i] = 0;
    }
  }
  store_sums(out, warpgroup, total);
}

int main() {
  float* out;
  cudaMalloc(&out, 64 * 8 * sizeof(float));
  multiply_constants<<<1, warpgroup>>>(out, 8);
  const bool right = holds(out, 64 * 8, [](int) { return 8 * 32; });
  cudaFree(out);
  return right ? 0 : 1;
}
