// A single thread fences for the whole block. The barrier orders all writes to the tile before this
// thread's fence, and the copy follows the fence.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void fill(int* out) {
  __shared__ alignas(16) int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    fence_proxy_async();
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
