// The ranges of neighbouring blocks overlap by one element, where both write the same value.
__global__ void clear(int* x) {
  x[blockIdx.x * 31 + threadIdx.x] = 0;  // finding: race writes writes says=value_is_the_same
}

int main() {
  int* x;
  cudaMalloc(&x, 63 * sizeof(int));  // finding: allocated
  clear<<<2, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
