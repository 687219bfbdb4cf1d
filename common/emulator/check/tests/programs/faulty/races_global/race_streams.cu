// Kernels in two streams write to one buffer.
__global__ void fill(int* x, int value) {
  x[threadIdx.x] = value;  // finding: race writes writes
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  fill<<<1, 32, 0, a>>>(x, 1);
  fill<<<1, 32, 0, b>>>(x, 2);
  cudaDeviceSynchronize();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
}
