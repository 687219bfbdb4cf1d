// The variable belongs to an inlined function.
__device__ int scaled(const int* x, int i, int n) {
  int scale;
  if (i < n) scale = x[i];
  return scale + x[0];
}

__global__ void scaled_copy(const int* x, int* y, int n) {
  y[threadIdx.x] = scaled(x, threadIdx.x, n);  // finding: unset_variable reads says=scale
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  scaled_copy<<<1, 64>>>(x, y, 40);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
