// Each round, a producer loads the next tile into the same slot, and the consumers wait for the
// phase of that round. A barrier keeps the producer from starting the next round too early.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int rounds = 2, consumers = 32, producer = consumers;

__global__ void sum_tiles(const int* in, int* out) {
  __shared__ alignas(16) int slot[consumers];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
  }
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x == producer) {
      arrive_and_expect(&full, sizeof slot);
      load_bytes(slot, in + round * consumers, sizeof slot, &full);
    }
    if (threadIdx.x < consumers) {
      wait_for_phase(&full, round % 2);
      sum += slot[consumers - 1 - threadIdx.x];
    }
    __syncthreads();
  }
  if (threadIdx.x < consumers) out[threadIdx.x] = sum;
}

int main() {
  int* const in = make_array<int>(rounds * consumers, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, consumers * sizeof(int));
  sum_tiles<<<1, consumers + 32>>>(in, out);
  const bool right = holds(out, consumers, [](int i) { return 2 * (31 - i) + 32; });
  cudaFree(in);
  cudaFree(out);
  return right ? 0 : 1;
}
