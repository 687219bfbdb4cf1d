// Only the threads with an element set the variable, but all threads store it.
__global__ void copy(const int* x, int* y, int n) {
  int value;
  if (threadIdx.x < n) value = x[threadIdx.x];
  y[threadIdx.x] = value;  // finding: unset_variable reads says=value count=24
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  copy<<<1, 64>>>(x, y, 40);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
