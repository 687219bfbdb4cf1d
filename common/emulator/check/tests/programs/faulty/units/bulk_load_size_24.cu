// The size of the copy, 24 bytes, is not a multiple of 16.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void reverse(const int* in, int* out) {
  __shared__ alignas(16) int tile[6];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, sizeof tile);
    load_bytes(tile, in, sizeof tile, &full);  // finding: failed stopped
  }
  __syncthreads();
  wait_for_phase(&full, 0);
  out[threadIdx.x] = tile[5 - threadIdx.x];
}

int main() {
  int* const in = make_array<int>(64, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  reverse<<<1, 6>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
