// Atomics make a sum, and a plain access reads it.
__global__ void sum(int* total, int* log) {
  const int i = blockIdx.x;
  atomicAdd(total, i);  // finding: race updates
  log[i] = *total;      // finding: race reads
}

int main() {
  int *total, *log;
  cudaMalloc(&total, sizeof(int));  // finding: allocated
  cudaMalloc(&log, 4 * sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  sum<<<4, 1>>>(total, log);
  cudaDeviceSynchronize();
  cudaFree(total);
  cudaFree(log);
}
