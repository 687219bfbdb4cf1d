// The source's address is only a multiple of 8, but must be a multiple of 16.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void reverse(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, sizeof tile);
    load_bytes(tile, in + 2, sizeof tile, &full);  // finding: misaligned
  }
  __syncthreads();
  wait_for_phase(&full, 0);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  int* const in = make_array<int>(66, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  reverse<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
