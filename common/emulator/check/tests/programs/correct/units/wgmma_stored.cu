// The block writes both operands of wgmma. Each thread fences its writes before the barrier.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void multiply_constants(float* out) {
  __shared__ alignas(128) wgmma_a a;
  __shared__ alignas(128) wgmma_b b;
  for (int i = threadIdx.x; i < 64 * 16; i += warpgroup) a[i] = __float2bfloat16(1);
  b[threadIdx.x] = __float2bfloat16(2);
  fence_proxy_async();
  __syncthreads();
  float d[4] = {};
  wgmma_fence(d);
  multiply(d, describe(a), describe(b));
  wgmma_commit();
  wgmma_wait<0>();
  store_sums(out, warpgroup, d);
}

int main() {
  float* out;
  cudaMalloc(&out, 64 * 8 * sizeof(float));
  multiply_constants<<<1, warpgroup>>>(out);
  const bool right = holds(out, 64 * 8, [](int) { return 32; });
  cudaFree(out);
  return right ? 0 : 1;
}
