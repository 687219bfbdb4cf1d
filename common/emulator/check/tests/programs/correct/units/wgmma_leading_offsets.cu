// The hardware ignores the leading byte offset of a swizzled K-major operand. The values 0, 1 and
// 16 in that field of the descriptor give the same sums.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int n = 8, k = 64;

__device__ std::uint64_t describe_swizzled(const __nv_bfloat16* operand, int step,
                                           std::uint64_t leading) {
  constexpr std::uint64_t stride = 1024, swizzle_128 = 1;
  return (shared_address(operand) + 32 * step) >> 4 | leading << 16 | stride >> 4 << 32 |
         swizzle_128 << 62;
}

__global__ void sum_products(const __grid_constant__ CUtensorMap map_a,
                             const __grid_constant__ CUtensorMap map_b, float* out) {
  __shared__ alignas(1024) __nv_bfloat16 a[64 * k], b[n * k];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, sizeof a + sizeof b);
    load_box(a, &map_a, 0, 0, &full);
    load_box(b, &map_b, 0, 0, &full);
  }
  __syncthreads();
  wait_for_phase(&full, 0);
  float d[4] = {};
  wgmma_fence(d);
  for (const int leading : {0, 1, 16})
    for (int step = 0; step < k / 16; ++step)
      multiply(d, describe_swizzled(a, step, leading), describe_swizzled(b, step, leading));
  wgmma_commit();
  wgmma_wait<0>();
  store_sums(out, warpgroup, d);
}

int main() {
  constexpr auto bf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  constexpr auto swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  const auto row_of_a = [](int i) { return __float2bfloat16(i / k); };
  __nv_bfloat16* const a = make_array<__nv_bfloat16>(64 * k, row_of_a);
  __nv_bfloat16* const b =
      make_array<__nv_bfloat16>(n * k, [](int) { return __float2bfloat16(1); });
  float* out;
  cudaMalloc(&out, 64 * n * sizeof(float));
  sum_products<<<1, warpgroup>>>(map_of(a, bf16, 2, k, 64, k, 64, swizzle),
                                 map_of(b, bf16, 2, k, n, k, n, swizzle), out);
  // Elements 2 and 3 of a thread are 8 rows below elements 0 and 1.
  const auto row_of = [](int i) { return i % 128 / 32 * 16 + i % 32 / 4 + i / 256 * 8; };
  const bool right = holds(out, 64 * n, [=](int i) { return 3 * k * row_of(i); });
  cudaFree(a);
  cudaFree(b);
  cudaFree(out);
  return right ? 0 : 1;
}
