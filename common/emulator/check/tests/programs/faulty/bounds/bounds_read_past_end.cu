// Each element is subtracted from the next one, which the last element does not have.
__global__ void differences(const int* x, int* y) {
  const int i = threadIdx.x;
  y[i] = x[i + 1] - x[i];  // finding: out_of_bounds reads bytes=256 offset=256 count=1
}

int main() {
  const int n = 64;
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));  // finding: allocated
  cudaMalloc(&y, n * sizeof(int));
  cudaMemset(x, 0, n * sizeof(int));
  differences<<<1, n>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
