// The wait follows the barrier: when the barrier opens, other threads' copies may be in flight.
#include <cuda_pipeline.h>

__global__ void stage(const int* x, int* y) {
  __shared__ int tile[64];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(tile + i, x + i, 4);  // finding: race writes|copies object=tile
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
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
