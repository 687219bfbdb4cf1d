// The threads swizzle a tile by its rows, but the tile does not begin at a multiple of 1024 bytes,
// so wgmma reads other chunks.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int row_elements = 64;

__global__ void multiply_constants(float* out) {
  __shared__ alignas(1024) __nv_bfloat16 tiles[64 + 64 * row_elements];
  __shared__ alignas(128) wgmma_b b;
  __nv_bfloat16* const a = tiles + 64;
  for (int i = threadIdx.x; i < 64 * row_elements; i += warpgroup) {
    const int row = i / row_elements, chunk = i % row_elements / 8;
    a[row * row_elements + (chunk ^ row % 8) * 8 + i % 8] = __float2bfloat16(1);
  }
  b[threadIdx.x] = __float2bfloat16(2);
  fence_proxy_async();
  __syncthreads();
  constexpr std::uint64_t swizzle_of_128_bytes = 1ull << 62, stride = 8 * 128;
  float d[4] = {};
  wgmma_fence(d);
  // finding: unaligned_tile any object=tiles says=multiple_of_1024
  multiply(d, swizzle_of_128_bytes | stride >> 4 << 32 | shared_address(a) >> 4, describe(b));
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
