// A reduction without a barrier after each level.
__global__ void sum(const int* x, int* out) {
  __shared__ int partial[128];
  const int i = threadIdx.x;
  partial[i] = x[i];
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (i < s) partial[i] += partial[i + s];  // finding: race any any says=all_threads_of_the_block
  }
  if (i == 0) *out = partial[0];
}

int main() {
  int *x, *out;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(x, 0, 128 * sizeof(int));
  sum<<<1, 128>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
