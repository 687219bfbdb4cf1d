// The last block to finish adds up all blocks' results: barrier, fence, counter, fence.
__device__ unsigned finished;

__global__ void sum(const int* x, int* partial, int* out) {
  __shared__ int mine;
  __shared__ bool last;
  if (threadIdx.x == 0) mine = 0;
  __syncthreads();
  atomicAdd(&mine, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicAdd(&finished, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += partial[b];
    *out = total;
    finished = 0;
  }
}

int main() {
  int host[256], *x, *partial, *out, total = 0;
  for (int i = 0; i < 256; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&partial, 4 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  for (int round = 0; round < 2; ++round) sum<<<4, 64>>>(x, partial, out);
  cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(partial);
  cudaFree(out);
  return total == 32640 ? 0 : 1;
}
