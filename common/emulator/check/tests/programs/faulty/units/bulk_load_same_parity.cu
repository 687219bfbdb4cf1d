// The consumer always waits for parity 0. In the second round, the phase of that parity is already
// complete, so the wait returns before the copy has arrived.
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
      // finding 1: race writes|copies object=slot; 2: not_awaited any
      load_bytes(slot, in + round * consumers, sizeof slot, &full);
    }
    if (threadIdx.x < consumers) {
      wait_for_phase(&full, 0);
      sum += slot[consumers - 1 - threadIdx.x];  // finding 1: reads
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
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
