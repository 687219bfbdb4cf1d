// The next tile is fetched into a buffer that slower warps are still reading.
#include <cuda_pipeline.h>

__global__ void stage(const int* x, int* y) {
  __shared__ int tile[64];
  const int i = threadIdx.x;
  int sum = 0;
  for (int t = 0; t < 2; ++t) {
    // finding: race writes|copies object=tile
    __pipeline_memcpy_async(tile + i, x + 64 * t + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += tile[63 - i];  // finding: race reads
  }
  y[i] = sum;
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMalloc(&y, 64 * sizeof(int));
  cudaMemset(x, 0, 128 * sizeof(int));
  stage<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
