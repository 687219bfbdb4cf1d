// The block writes the operand of the next product while wgmma may still be reading the previous
// one.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void multiply_constants(float* out) {
  __shared__ alignas(128) wgmma_a a;
  __shared__ alignas(128) wgmma_b b;
  for (int i = threadIdx.x; i < 64 * 16; i += warpgroup) a[i] = __float2bfloat16(1);
  float d[4] = {};
  for (int round = 1; round <= 2; ++round) {
    b[threadIdx.x] = __float2bfloat16(round);  // finding: race writes object=b
    fence_proxy_async();
    __syncthreads();
    wgmma_fence(d);
    multiply(d, describe(a), describe(b));  // finding: race reads
    wgmma_commit();
    __syncthreads();
  }
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
