// The first element of a local array is never set.
__global__ void stencil(const int* x, int* y) {
  int near[8];
  for (int k = 1; k < 8; ++k) near[k] = x[threadIdx.x + k];
  const int first = x[0];  // 0, but the compiler does not know this
  // finding: unset_variable reads says=near
  y[threadIdx.x] = near[first & 7];
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  stencil<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
