// No barrier follows the initialisation, so the second warp may wait at an uninitialised mbarrier.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void reverse(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);  // finding: race any object=full
    fence_barrier_init();
    arrive_and_expect(&full, sizeof tile);
    load_bytes(tile, in, sizeof tile, &full);
  }
  wait_for_phase(&full, 0);  // finding: race any
  out[threadIdx.x] = tile[63 - threadIdx.x];
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
