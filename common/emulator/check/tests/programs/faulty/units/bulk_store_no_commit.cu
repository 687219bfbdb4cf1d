// The copy was never committed to a group, so the wait does not cover it.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void fill(int* out) {
  __shared__ alignas(16) int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    store_bytes(out, tile, sizeof tile);  // finding: not_awaited
    wait_for_reads<0>();
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  fill<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
