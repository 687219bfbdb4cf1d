// Double buffering with cp.async: the block uses one tile while it fetches the next.
#include <cuda_pipeline.h>

__global__ void sums(const int* x, int* out, int tiles) {
  __shared__ int buffer[2][64];
  const int i = threadIdx.x;
  int sum = 0;
  __pipeline_memcpy_async(&buffer[0][i], x + i, 4);
  __pipeline_commit();
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) __pipeline_memcpy_async(&buffer[(t + 1) % 2][i], x + 64 * (t + 1) + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += buffer[t % 2][63 - i];
    __syncthreads();
  }
  out[i] = sum;
}

int main() {
  int host[320], *x, *out;
  for (int i = 0; i < 320; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  sums<<<1, 64>>>(x, out, 5);
  cudaMemcpy(host, out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return host[63] == 640 ? 0 : 1;
}
