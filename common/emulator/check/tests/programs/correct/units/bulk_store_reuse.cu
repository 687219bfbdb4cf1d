// Before the block writes to the tile again, the thread that issued the copy waits for it, and a
// barrier makes the other threads wait for that thread.
#include "common/emulator/check/tests/programs/async_units.hpp"

constexpr int rounds = 2;

__global__ void fill(int* out) {
  __shared__ alignas(16) int tile[64];
  for (int round = 0; round < rounds; ++round) {
    tile[threadIdx.x] = 64 * round + threadIdx.x;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      store_bytes(out + 64 * round, tile, sizeof tile);
      commit_stores();
      wait_for_reads<0>();
    }
    __syncthreads();
  }
}

int main() {
  int* out;
  cudaMalloc(&out, rounds * 64 * sizeof(int));
  fill<<<1, 64>>>(out);
  const bool right = holds(out, rounds * 64, [](int i) { return i; });
  cudaFree(out);
  return right ? 0 : 1;
}
