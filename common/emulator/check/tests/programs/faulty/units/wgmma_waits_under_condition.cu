// The wait is in a condition, which does not hold in the last round. The threads then store the
// accumulators of a product that nothing has waited for.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int rounds = 3;

__global__ void multiply_constants(float* out) {
  __shared__ alignas(128) wgmma_a a;
  __shared__ alignas(128) wgmma_b b;
  for (int i = threadIdx.x; i < 64 * 16; i += warpgroup) a[i] = __float2bfloat16(1);
  b[threadIdx.x] = __float2bfloat16(2);
  fence_proxy_async();
  __syncthreads();
  float d[4] = {};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    wgmma_fence(d);
    multiply(d, describe(a), describe(b));  // finding: not_awaited any says=on_every_path
    wgmma_commit();
    if (round < rounds - 1) wgmma_wait<0>();
  }
  store_sums(out, warpgroup, d);  // finding: any
  wgmma_wait<0>();
}

int main() {
  float* out;
  cudaMalloc(&out, 64 * 8 * sizeof(float));
  multiply_constants<<<1, warpgroup>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
