// An asynchronous copy reads unwritten bytes, which is as wrong as a plain read of them.
#include <cuda_pipeline.h>

__global__ void stage(const int* x, int* y) {
  __shared__ int tile[32];
  const int i = threadIdx.x;
  // finding: unwritten_read reads|copies bytes=128 offset=64 count=16
  __pipeline_memcpy_async(tile + i, x + i, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[i] = i < 16 ? tile[i] : 0;
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  cudaMemset(x, 0, 64);
  stage<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
