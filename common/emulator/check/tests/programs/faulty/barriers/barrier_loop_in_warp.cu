// A barrier in a loop whose number of iterations differs between the lanes of a warp.
__global__ void rounds(int* x) {
  const int i = threadIdx.x;
  for (int k = 0; k < i % 4 + 1; ++k) {  // finding: leaves says=the_loop_at_line_4
    x[i] = k;
    __syncthreads();  // finding: exited_at_barrier waits
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  rounds<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
