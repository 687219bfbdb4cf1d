// Both sides of a branch have a barrier, but these are two different barriers.
__global__ void halves(int* x) {
  const int i = threadIdx.x;
  if (i % 32 < 16) {
    x[i] = 1;
    __syncthreads();  // finding: barrier_divergence waits
  } else {
    x[i] = 2;
    __syncthreads();  // finding: barrier_divergence waits
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  halves<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
