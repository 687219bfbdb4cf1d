// The buffer is freed between two launches that use it.
__global__ void fill(int* x) {
  x[threadIdx.x] = 1;  // finding: use_after_free writes bytes=256 count=64
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));  // finding: allocated
  cudaMemset(x, 0, 64 * sizeof(int));
  cudaFree(x);  // finding: freed
  fill<<<1, 64>>>(x);
  cudaDeviceSynchronize();
}
