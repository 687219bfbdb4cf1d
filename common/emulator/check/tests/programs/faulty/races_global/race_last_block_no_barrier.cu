// Thread 0 fences and counts, but the block's other threads may not have written yet.
__device__ unsigned finished;

__global__ void sum(int* partial, int* out) {
  __shared__ bool last;
  const int i = threadIdx.x;
  partial[blockIdx.x * blockDim.x + i] = i;  // finding: race writes
  if (i == 0) {
    __threadfence();
    last = atomicAdd(&finished, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && i == 0) {
    int total = 0;
    for (int b = 0; b < gridDim.x * blockDim.x; ++b) total += partial[b];  // finding: race reads
    *out = total;
  }
}

int main() {
  int *partial, *out;
  cudaMalloc(&partial, 2 * 64 * sizeof(int));  // finding: allocated
  cudaMalloc(&out, sizeof(int));
  sum<<<2, 64>>>(partial, out);
  cudaDeviceSynchronize();
  cudaFree(partial);
  cudaFree(out);
}
