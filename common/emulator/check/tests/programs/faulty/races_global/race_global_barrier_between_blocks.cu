// __syncthreads() does not wait for other blocks.
__global__ void sum(int* partial, int* out) {
  if (threadIdx.x == 0) partial[blockIdx.x] = 1;  // finding: race writes
  __syncthreads();
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += partial[b];  // finding: race reads
    *out = total;
  }
}

int main() {
  int *partial, *out;
  cudaMalloc(&partial, 4 * sizeof(int));  // finding: allocated
  cudaMalloc(&out, sizeof(int));
  sum<<<4, 32>>>(partial, out);
  cudaDeviceSynchronize();
  cudaFree(partial);
  cudaFree(out);
}
