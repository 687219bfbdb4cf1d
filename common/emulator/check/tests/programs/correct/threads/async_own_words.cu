// Every thread reads only what it fetched itself, so waiting is enough: no barrier is needed.
#include <cuda_pipeline.h>

__global__ void copy(const int4* x, int4* y) {
  __shared__ int4 tile[64];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(tile + i, x + i, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[i] = tile[i];
}

int main() {
  int host[256];
  int4 *x, *y;
  for (int i = 0; i < 256; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  copy<<<1, 64>>>(x, y);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  return host[255] == 255 ? 0 : 1;
}
