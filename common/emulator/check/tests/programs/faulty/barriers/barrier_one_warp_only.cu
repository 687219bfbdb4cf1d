// One warp waits at the barrier, but the other exits without reaching it.
__global__ void first_warp(int* x) {
  const int i = threadIdx.x;
  x[i] = 1;
  if (i < 32) {       // finding: goes says=inside_the_condition_at_line_5
    __syncthreads();  // finding: exited_at_barrier waits
    x[i] = 2;
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  first_warp<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
