// A group starts a copy together and does not wait for it.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

__global__ void stage(const int* x, int* y) {
  __shared__ int tile[64];
  const auto block = cooperative_groups::this_thread_block();
  const int i = threadIdx.x;
  // finding: race writes|copies object=tile
  cooperative_groups::memcpy_async(block, tile, x, sizeof tile);
  y[i] = tile[63 - i];  // finding: race reads
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&y, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  stage<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
