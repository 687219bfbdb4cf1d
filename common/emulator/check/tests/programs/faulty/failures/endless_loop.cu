// The loop's condition never becomes false.
__global__ void count(volatile int* x) {
  while (x[0] >= 0) x[1] = x[0];  // finding: endless
}

int main() {
  int* x;
  cudaMalloc(&x, 2 * sizeof(int));
  cudaMemset(x, 0, 2 * sizeof(int));
  count<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
