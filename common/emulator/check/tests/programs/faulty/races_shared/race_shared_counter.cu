// All threads increment a counter, without an atomic.
__global__ void count(const int* x, int* out) {
  __shared__ int positive;
  const int i = threadIdx.x;
  if (i == 0) positive = 0;
  __syncthreads();
  if (x[i] > 0) ++positive;  // finding: race any any says=use_atomicAdd() object=positive
  __syncthreads();
  if (i == 0) *out = positive;
}

int main() {
  int *x, *out;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(x, 1, 64 * sizeof(int));
  count<<<1, 64>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
