// Counters in local memory, because their indices are known only at run time.
__global__ void histogram(const int* x, int* y, int n) {
  int count[16];
  for (int i = 0; i < n; ++i) ++count[x[i] & 15];  // finding: unset_variable reads says=count
  for (int k = 0; k < 4; ++k) y[threadIdx.x * 4 + k] = count[k];
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  histogram<<<1, 64>>>(x, y, 100);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
