// No barrier follows the reads, so the next copy may overwrite a slot that is still being read.
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
      // finding: race writes|copies object=slot
      load_bytes(slot, in + round * consumers, sizeof slot, &full);
    }
    wait_for_phase(&full, round % 2);
    __syncthreads();
    // finding: race reads
    if (threadIdx.x < consumers) sum += slot[consumers - 1 - threadIdx.x];
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
