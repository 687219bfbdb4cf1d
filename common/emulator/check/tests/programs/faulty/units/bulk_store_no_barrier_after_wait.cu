// The issuing thread waits for its copy, but no barrier makes the other threads wait for that
// thread.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int rounds = 2;

__global__ void fill(int* out) {
  __shared__ alignas(16) int tile[64];
  for (int round = 0; round < rounds; ++round) {
    tile[threadIdx.x] = 64 * round + threadIdx.x;  // finding: race writes object=tile
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      // finding: race reads|copies
      store_bytes(out + 64 * round, tile, sizeof tile);
      commit_stores();
      wait_for_reads<0>();
    }
  }
}

int main() {
  int* out;
  cudaMalloc(&out, rounds * 64 * sizeof(int));
  fill<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
