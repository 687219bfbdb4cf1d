// Only the thread that issued the copy waits for it. No barrier follows, so the other threads may
// read the tile too early.
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
  if (threadIdx.x == 0) wait_for_phase(&full, 0);
  out[threadIdx.x] = tile[63 - threadIdx.x];  // finding: race reads
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
