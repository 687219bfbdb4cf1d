// An index multiplied by the width twice: far behind the array.
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
