// The array is shorter than the tile, so the copy reads past the end of the array.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void reverse(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, sizeof tile);
    // finding: out_of_bounds reads|copies bytes=240
    load_bytes(tile, in, sizeof tile, &full);
  }
  __syncthreads();
  wait_for_phase(&full, 0);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 60 * sizeof(int));  // finding: allocated
  cudaMemset(in, 0, 60 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  reverse<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
