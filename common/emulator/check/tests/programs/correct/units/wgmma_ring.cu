// A producer warp and two warpgroups share a ring of four stages. Each warpgroup multiplies its own
// 64 rows of A by the same B. One product stays in flight, so a stage is released one round after
// its product was issued.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int stages = 4, rounds = 10, consumers = 2 * warpgroup;
constexpr int a_elements = 2 * 64 * 16, b_elements = 8 * 16;

struct stage {
  wgmma_a a[2];
  wgmma_b b;
};

__global__ void sum_products(const __nv_bfloat16* in_a, const __nv_bfloat16* in_b, float* out) {
  __shared__ alignas(128) stage ring[stages];
  __shared__ mbarrier full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      init_barrier(&full[i], 1);
      init_barrier(&empty[i], consumers);
    }
    fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x == consumers) {
    for (int round = 0; round < rounds; ++round) {
      const int at = round % stages;
      wait_for_phase(&empty[at], (round / stages + 1) % 2);
      arrive_and_expect(&full[at], sizeof ring[at]);
      load_bytes(ring[at].a, in_a + round * a_elements, sizeof ring[at].a, &full[at]);
      load_bytes(ring[at].b, in_b + round * b_elements, sizeof ring[at].b, &full[at]);
    }
  } else if (threadIdx.x < consumers) {
    float d[4] = {};
    for (int round = 0; round < rounds; ++round) {
      const int at = round % stages;
      wait_for_phase(&full[at], round / stages % 2);
      wgmma_fence(d);
      multiply(d, describe(ring[at].a[threadIdx.x / warpgroup]), describe(ring[at].b));
      wgmma_commit();
      wgmma_wait<1>();
      if (round > 0) arrive(&empty[(round - 1) % stages]);
    }
    wgmma_wait<0>();
    store_sums(out, consumers, d);
  }
}

int main() {
  const auto round_of_a = [](int i) { return __float2bfloat16(i / a_elements); };
  __nv_bfloat16* const a = make_array<__nv_bfloat16>(rounds * a_elements, round_of_a);
  __nv_bfloat16* const b =
      make_array<__nv_bfloat16>(rounds * b_elements, [](int) { return __float2bfloat16(2); });
  float* out;
  cudaMalloc(&out, 4 * consumers * sizeof(float));
  sum_products<<<1, consumers + 32>>>(a, b, out);
  const bool right = holds(out, 4 * consumers, [](int) { return 16 * 2 * 45; });
  cudaFree(a);
  cudaFree(b);
  cudaFree(out);
  return right ? 0 : 1;
}
