// elect.sync elects one thread per warp, so two threads issue the same copy.
#include "common/emulator/check/tests/programs/async_units.hpp"

__device__ bool is_elected() {
  int elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.s32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected != 0;
}

__global__ void reverse(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 2);
    fence_barrier_init();
  }
  __syncthreads();
  if (is_elected()) {
    arrive_and_expect(&full, sizeof tile);
    // finding: race writes|copies writes|copies object=tile
    load_bytes(tile, in, sizeof tile, &full);
  }
  wait_for_phase(&full, 0);
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
