// Whole blocks wait for the last block: one thread polls, and a barrier passes on its answer.
__device__ int data;
__device__ volatile int ready;

__global__ void meet(int* out) {
  __shared__ int seen;
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    data = 5;
    __threadfence();
    ready = 1;
  }
  do {
    __syncthreads();
    if (threadIdx.x == 0) {
      seen = ready;
      __threadfence();
    }
    __syncthreads();
  } while (seen == 0);
  out[blockIdx.x * blockDim.x + threadIdx.x] = data;
}

int main() {
  int host[4 * 64], *out;
  cudaMalloc(&out, sizeof host);
  meet<<<4, 64>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[0] == 5 && host[4 * 64 - 1] == 5 ? 0 : 1;
}
