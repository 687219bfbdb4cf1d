// The block writes an array in global memory and loads it with a bulk copy, without a proxy fence
// in between.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void reverse(int* x) {
  __shared__ alignas(16) int tile[64];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
  }
  x[threadIdx.x] = threadIdx.x;  // finding: missing_fence writes
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive_and_expect(&full, sizeof tile);
    load_bytes(tile, x, sizeof tile, &full);  // finding: reads|copies
  }
  wait_for_phase(&full, 0);
  x[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  int* const x = make_array<int>(64, [](int) { return 0; });
  reverse<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
