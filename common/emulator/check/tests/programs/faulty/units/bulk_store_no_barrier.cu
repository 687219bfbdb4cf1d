// No barrier separates the writes to the tile from the copy.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void fill(int* out) {
  __shared__ alignas(16) int tile[64];
  tile[threadIdx.x] = threadIdx.x;  // finding: race writes object=tile
  fence_proxy_async();
  if (threadIdx.x == 0) {
    store_bytes(out, tile, sizeof tile);  // finding: race reads|copies
    commit_stores();
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
