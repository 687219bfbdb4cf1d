// Lanes of one warp exchange words through global memory without __syncwarp().
__global__ void swap(int* x, int* y) {
  const int i = threadIdx.x;
  x[i] = i;         // finding: race writes
  y[i] = x[i ^ 1];  // finding: race reads
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  swap<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
