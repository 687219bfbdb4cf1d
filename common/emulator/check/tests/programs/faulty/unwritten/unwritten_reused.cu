// The second buffer probably has the address, and therefore the content, of the first one.
__global__ void fill(int* x) { x[threadIdx.x] = 7; }

__global__ void copy(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: unwritten_read reads bytes=256 offset=0 count=64
}

int main() {
  int *x, *y, *z;
  cudaMalloc(&x, 64 * sizeof(int));
  fill<<<1, 64>>>(x);
  cudaFree(x);
  cudaMalloc(&y, 64 * sizeof(int));  // finding: allocated
  cudaMalloc(&z, 64 * sizeof(int));
  copy<<<1, 64>>>(y, z);
  cudaDeviceSynchronize();
  cudaFree(y);
  cudaFree(z);
}
