// The warpgroup releases the slot before waiting for the wgmma that reads it.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int rounds = 3, a_elements = 64 * 16, b_elements = 8 * 16;

__global__ void sum_products(const __nv_bfloat16* in_a, const __nv_bfloat16* in_b, float* out) {
  __shared__ alignas(128) wgmma_a a;
  __shared__ alignas(128) wgmma_b b;
  __shared__ mbarrier full, empty;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    init_barrier(&empty, warpgroup);
    fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x == warpgroup) {
    for (int round = 0; round < rounds; ++round) {
      wait_for_phase(&empty, (round + 1) % 2);
      arrive_and_expect(&full, sizeof a + sizeof b);
      // finding 1: race writes|copies object=a
      load_bytes(a, in_a + round * a_elements, sizeof a, &full);
      // finding 2: race writes|copies object=b
      load_bytes(b, in_b + round * b_elements, sizeof b, &full);
    }
  } else if (threadIdx.x < warpgroup) {
    float d[4] = {};
    for (int round = 0; round < rounds; ++round) {
      wait_for_phase(&full, round % 2);
      wgmma_fence(d);
      multiply(d, describe(a), describe(b));  // finding 1: race reads; 2: race reads
      wgmma_commit();
      arrive(&empty);
      wgmma_wait<0>();
    }
    store_sums(out, warpgroup, d);
  }
}

int main() {
  const auto round_of_a = [](int i) { return __float2bfloat16(1 + i / a_elements); };
  __nv_bfloat16* const a = make_array<__nv_bfloat16>(rounds * a_elements, round_of_a);
  __nv_bfloat16* const b =
      make_array<__nv_bfloat16>(rounds * b_elements, [](int) { return __float2bfloat16(2); });
  float* out;
  cudaMalloc(&out, 64 * 8 * sizeof(float));
  sum_products<<<1, warpgroup + 32>>>(a, b, out);
  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(b);
  cudaFree(out);
}
