// A sum without an initial value.
__global__ void sums(const int* x, int* y, int n) {
  int sum;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += x[i];  // finding: unset_variable reads says=sum
  y[threadIdx.x] = sum;
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  sums<<<1, 64>>>(x, y, 100);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
