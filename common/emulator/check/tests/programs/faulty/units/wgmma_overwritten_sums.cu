// The threads set the accumulators to 0 for the next round while a product may still write them.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void multiply_constants(float* out, int rounds) {
  __shared__ alignas(128) wgmma_a a;
  __shared__ alignas(128) wgmma_b b;
  for (int i = threadIdx.x; i < 64 * 16; i += warpgroup) a[i] = __float2bfloat16(1);
  b[threadIdx.x] = __float2bfloat16(2);
  fence_proxy_async();
  __syncthreads();
  float d[4] = {};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    for (float& sum : d) sum = static_cast<float>(round);
    wgmma_fence(d);                         // finding: any
    multiply(d, describe(a), describe(b));  // finding: not_awaited any
    wgmma_commit();
    if (round % 2 == 1) wgmma_wait<0>();
  }
  wgmma_wait<0>();
  store_sums(out, warpgroup, d);
}

int main() {
  float* out;
  cudaMalloc(&out, 64 * 8 * sizeof(float));
  multiply_constants<<<1, warpgroup>>>(out, 4);
  cudaDeviceSynchronize();
  cudaFree(out);
}
