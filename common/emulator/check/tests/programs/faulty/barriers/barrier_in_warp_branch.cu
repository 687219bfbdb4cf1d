// Odd threads wait at a barrier that even threads never reach.
__global__ void odd(int* x) {
  const int i = threadIdx.x;
  if (i % 2 == 1) {  // finding: goes says=inside_the_condition_at_line_4
    x[i] = 1;
    __syncthreads();  // finding: exited_at_barrier waits
  } else {
    x[i] = 2;
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  odd<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
