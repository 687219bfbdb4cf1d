// Copies of 16 bytes; the last one begins inside the allocation and ends outside.
#include <cuda_pipeline.h>

__global__ void stage(const int* x, int* y) {
  __shared__ alignas(16) int tile[32];
  const int i = threadIdx.x;
  // finding: out_of_bounds reads|copies bytes=120 offset=112 count=1
  __pipeline_memcpy_async(tile + 4 * i, x + 4 * i, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[i] = tile[4 * i];
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 30 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 8 * sizeof(int));
  cudaMemset(x, 0, 30 * sizeof(int));
  stage<<<1, 8>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
