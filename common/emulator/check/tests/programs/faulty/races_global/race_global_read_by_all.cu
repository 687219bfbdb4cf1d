// Each block reads all words many times, each time at a different offset. One block writes them.
__global__ void shift(int* x, int* sums) {
  int sum = 0;
  for (int round = 0; round < 40; ++round)
    sum += x[(threadIdx.x + round) % 64];  // finding: race reads
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  if (blockIdx.x == 3) x[threadIdx.x] = sum;  // finding: race writes
}

int main() {
  int *x, *sums;
  cudaMalloc(&x, 64 * sizeof(int));  // finding: allocated
  cudaMalloc(&sums, 5 * 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  shift<<<5, 64>>>(x, sums);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sums);
}
