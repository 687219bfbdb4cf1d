// A maximum without an initial value.
__global__ void maxima(const int* x, int* y, int n) {
  int best;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (x[i] > best) best = x[i];  // finding: unset_variable reads says=best
  y[threadIdx.x] = best;
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  maxima<<<1, 64>>>(x, y, 100);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
