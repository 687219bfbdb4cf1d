// Two groups are in flight. The wait lets the newer one remain, and that is the one to be read.
#include <cuda_pipeline.h>

__global__ void stage(const int* x, int* y) {
  __shared__ int first[32], second[32];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(first + i, x + i, 4);
  __pipeline_commit();
  __pipeline_memcpy_async(second + i, x + 32 + i, 4);  // finding: race writes|copies object=second
  __pipeline_commit();
  __pipeline_wait_prior(1);
  y[i] = second[i];  // finding: race reads
  __pipeline_wait_prior(0);
  y[i] += first[i];
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&y, 32 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  stage<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
