// The block writes a tile and stores it to global memory with a bulk copy, without a proxy fence in
// between.
#include "common/emulator/check/tests/programs/async_units.hpp"

__global__ void fill(int* out) {
  __shared__ alignas(16) int tile[64];
  tile[threadIdx.x] = threadIdx.x;  // finding: missing_fence writes object=tile
  __syncthreads();
  if (threadIdx.x == 0) {
    store_bytes(out, tile, sizeof tile);  // finding: reads|copies
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
