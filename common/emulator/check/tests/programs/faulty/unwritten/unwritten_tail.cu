// cudaMemset counts in bytes, and 64 bytes are only a quarter of 64 ints.
__global__ void copy(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: unwritten_read reads bytes=256 offset=64 count=48
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 64 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 64 * sizeof(int));
  cudaMemset(x, 0, 64);
  copy<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
