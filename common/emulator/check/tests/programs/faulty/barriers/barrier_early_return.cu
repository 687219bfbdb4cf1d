// Threads without an element return before the barrier at which the other threads wait.
__global__ void reverse(int* x, int n) {
  __shared__ int line[64];
  const int i = threadIdx.x;
  if (i >= n) return;  // finding: leaves says=Do_not_return_before_the_last_barrier
  line[i] = x[i];
  __syncthreads();  // finding: exited_at_barrier waits
  x[i] = line[n - 1 - i];
}

int main() {
  int* x;
  cudaMalloc(&x, 50 * sizeof(int));
  cudaMemset(x, 0, 50 * sizeof(int));
  reverse<<<1, 64>>>(x, 50);
  cudaDeviceSynchronize();
  cudaFree(x);
}
