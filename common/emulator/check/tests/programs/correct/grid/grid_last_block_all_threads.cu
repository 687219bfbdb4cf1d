// Every thread fences its own write, as in CUDA's sample threadFenceReduction.
__device__ unsigned finished;

__global__ void copy_and_sum(const int* x, int* copy, int* out) {
  __shared__ bool last;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  copy[i] = 2 * x[i];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += copy[b * blockDim.x + threadIdx.x];
    out[threadIdx.x] = total;
  }
}

int main() {
  int host[256], *x, *copy, *out;
  for (int i = 0; i < 256; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&copy, sizeof host);
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  copy_and_sum<<<4, 64>>>(x, copy, out);
  cudaMemcpy(host, out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(copy);
  cudaFree(out);
  return host[0] == 768 && host[63] == 768 + 8 * 63 ? 0 : 1;
}
