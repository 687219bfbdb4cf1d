// An array that the compiler keeps in registers.
__global__ void columns(const int* x, int* y, int n) {
  int part[4];
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k) part[k] += x[i * 4 + k];  // finding: unset_variable reads says=part
  for (int k = 0; k < 4; ++k) y[threadIdx.x * 4 + k] = part[k];
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  columns<<<1, 64>>>(x, y, 16);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
