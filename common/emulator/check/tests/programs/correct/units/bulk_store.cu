// Each thread fences its own write to the tile before the barrier. Then one thread stores the tile
// to global memory, and waits until the copy has read it.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void fill(int* out) {
  __shared__ alignas(16) int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    store_bytes(out, tile, sizeof tile);
    commit_stores();
    wait_for_reads<0>();
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  fill<<<1, 64>>>(out);
  const bool right = holds(out, 64, [](int i) { return i; });
  cudaFree(out);
  return right ? 0 : 1;
}
