// The block's barrier does not wait for the copy, so the threads may read the tile too early.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void reverse(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, sizeof tile);
    // finding: race writes|copies object=tile
    load_bytes(tile, in, sizeof tile, &full);
  }
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // finding: race reads
  wait_for_phase(&full, 0);
}

int main() {
  int* const in = make_array<int>(64, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  reverse<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
