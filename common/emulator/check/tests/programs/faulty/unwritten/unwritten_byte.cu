// 255 of 256 bytes are written.
__global__ void copy(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: unwritten_read reads bytes=256 count=1
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256);  // finding: allocated
  cudaMalloc(&y, 256);
  cudaMemset(x, 0, 255);
  copy<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
