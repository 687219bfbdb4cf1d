// The number of elements of a matrix does not fit in an int.
__global__ void corner(float* x, int rows, int columns) {
  const int last = rows * columns - 1;
  x[last] = 1;  // finding: out_of_bounds writes says=40000_*_65536
}

int main() {
  float* x;
  cudaMalloc(&x, 1000 * sizeof(float));
  corner<<<1, 1>>>(x, 65536, 40000);
  cudaDeviceSynchronize();
  cudaFree(x);
}
