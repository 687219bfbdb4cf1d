// Only block 0 waits between writing and reading: the others skip the branch with the barrier.
__global__ void reverse(int* x) {
  __shared__ int line[64];
  const int i = threadIdx.x;
  line[i] = i;  // finding: race writes object=line
  if (blockIdx.x == 0) __syncthreads();
  x[blockIdx.x * 64 + i] = line[63 - i];  // finding: race reads
}

int main() {
  int* x;
  cudaMalloc(&x, 2 * 64 * sizeof(int));
  reverse<<<2, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
