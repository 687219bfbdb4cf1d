// The second copy signals an mbarrier at which no thread waits. The copy may still be in flight
// when the block exits.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void add(const int* in, int* out) {
  __shared__ alignas(16) int first[64], second[64];
  __shared__ mbarrier full, next;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    init_barrier(&next, 1);
    fence_barrier_init();
    arrive_and_expect(&full, sizeof first);
    arrive_and_expect(&next, sizeof second);
    load_bytes(first, in, sizeof first, &full);
    load_bytes(second, in + 64, sizeof second, &next);  // finding: not_awaited
  }
  __syncthreads();
  wait_for_phase(&full, 0);
  out[threadIdx.x] = first[threadIdx.x];
}

int main() {
  int* const in = make_array<int>(128, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  add<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
