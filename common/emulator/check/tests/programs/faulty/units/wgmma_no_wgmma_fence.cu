// The threads set the accumulators, but no wgmma.fence follows before wgmma adds to them.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void multiply_constants(float* out) {
  __shared__ alignas(128) wgmma_a a;
  __shared__ alignas(128) wgmma_b b;
  for (int i = threadIdx.x; i < 64 * 16; i += warpgroup) a[i] = __float2bfloat16(1);
  b[threadIdx.x] = __float2bfloat16(2);
  fence_proxy_async();
  __syncthreads();
  float d[4] = {};
  multiply(d, describe(a), describe(b));  // finding: missing_fence reads
  wgmma_commit();
  wgmma_wait<0>();
  store_sums(out, warpgroup, d);
}

int main() {
  float* out;
  cudaMalloc(&out, 64 * 8 * sizeof(float));
  multiply_constants<<<1, warpgroup>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
