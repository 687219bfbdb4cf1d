// An index is multiplied by the width twice, and lies far past the end of the array.
__global__ void fill(int* x, int width) {
  const int row = threadIdx.x * width;
  x[row * width] = 1;  // finding: out_of_bounds writes
}

int main() {
  const int width = 4096;
  int* x;
  cudaMalloc(&x, width * sizeof(int));
  fill<<<1, 32>>>(x, width);
  cudaDeviceSynchronize();
  cudaFree(x);
}
