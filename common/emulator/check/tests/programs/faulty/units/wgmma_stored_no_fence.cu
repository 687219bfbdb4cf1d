// The block writes both operands of wgmma, without a proxy fence before wgmma reads them.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void multiply_constants(float* out) {
  __shared__ alignas(128) wgmma_a a;
  __shared__ alignas(128) wgmma_b b;
  // finding 1: missing_fence writes object=a
  for (int i = threadIdx.x; i < 64 * 16; i += warpgroup) a[i] = __float2bfloat16(1);
  b[threadIdx.x] = __float2bfloat16(2);  // finding 2: missing_fence writes object=b
  __syncthreads();
  float d[4] = {};
  wgmma_fence(d);
  multiply(d, describe(a), describe(b));  // finding 1: reads; 2: reads
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
