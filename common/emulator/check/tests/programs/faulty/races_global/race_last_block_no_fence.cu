// The last block to finish adds up the results of all blocks, but nothing orders their writes
// before the counter.
__device__ unsigned finished;

__global__ void sum(int* partial, int* out) {
  partial[blockIdx.x] = blockIdx.x;  // finding: race writes says=between_the_write_at_line_6
  const unsigned before = atomicAdd(&finished, 1);
  if (before == gridDim.x - 1) {
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += partial[b];  // finding: race reads
    *out = total;
  }
}

int main() {
  int *partial, *out;
  cudaMalloc(&partial, 4 * sizeof(int));  // finding: allocated
  cudaMalloc(&out, sizeof(int));
  sum<<<4, 1>>>(partial, out);
  cudaDeviceSynchronize();
  cudaFree(partial);
  cudaFree(out);
}
