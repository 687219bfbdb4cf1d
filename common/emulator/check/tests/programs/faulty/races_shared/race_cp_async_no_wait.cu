// No thread waits for the copies: each reads a word while its own copy may be in flight.
#include <cuda_pipeline.h>

__global__ void stage(const int* x, int* y) {
  __shared__ int tile[32];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(tile + i, x + i, 4);  // finding: race writes|copies object=tile
  __pipeline_commit();
  y[i] = tile[i];  // finding: race reads
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMalloc(&y, 32 * sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(int));
  stage<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
