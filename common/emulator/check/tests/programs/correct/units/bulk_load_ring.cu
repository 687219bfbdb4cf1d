// A producer warp fills two slots, and the other warps read them. The producer's first wait for
// each slot asks for parity 1 of a fresh mbarrier and returns at once. A copy that overwrites data
// that other threads have read needs no proxy fence: their arrivals at the mbarrier suffice.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int stages = 2, rounds = 6, consumers = 64;

__global__ void sum_tiles(const int* in, int* out) {
  __shared__ alignas(16) int ring[stages][64];
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
      const int stage = round % stages, lap = round / stages;
      wait_for_phase(&empty[stage], (lap + 1) % 2);
      arrive_and_expect(&full[stage], sizeof ring[stage]);
      load_bytes(ring[stage], in + 64 * round, sizeof ring[stage], &full[stage]);
    }
  } else if (threadIdx.x < consumers) {
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
      const int stage = round % stages, lap = round / stages;
      wait_for_phase(&full[stage], lap % 2);
      sum += ring[stage][63 - threadIdx.x];
      arrive(&empty[stage]);
    }
    out[threadIdx.x] = sum;
  }
}

int main() {
  int* const in = make_array<int>(rounds * 64, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  sum_tiles<<<1, consumers + 32>>>(in, out);
  const bool right = holds(out, 64, [](int i) { return 6 * (63 - i) + 15 * 64; });
  cudaFree(in);
  cudaFree(out);
  return right ? 0 : 1;
}
