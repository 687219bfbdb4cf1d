// Whole warps wait at different barriers. This works on today's hardware, but is still wrong.
__global__ void warps(int* x) {
  const int i = threadIdx.x;
  if (i < 32) {
    x[i] = 1;
    __syncthreads();  // finding: barrier_divergence waits
  } else {
    x[i] = 2;
    __syncthreads();  // finding: barrier_divergence waits
    x[i] = 3;
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  warps<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
