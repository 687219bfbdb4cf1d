// Sums are added to an array that was never set to zero.
__global__ void add(const int* x, int* sums) {
  sums[threadIdx.x] += x[threadIdx.x];  // finding: unwritten_read reads bytes=256 offset=0 count=64
}

int main() {
  int *x, *sums;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&sums, 64 * sizeof(int));  // finding: allocated
  cudaMemset(x, 0, 64 * sizeof(int));
  add<<<1, 64>>>(x, sums);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sums);
}
