// A copy of unwritten memory is still unwritten.
__global__ void add_one(int* x) {
  x[threadIdx.x] += 1;  // finding: unwritten_read reads bytes=128 offset=0 count=32
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMalloc(&y, 32 * sizeof(int));  // finding: allocated
  cudaMemcpy(y, x, 32 * sizeof(int), cudaMemcpyDeviceToDevice);
  add_one<<<1, 32>>>(y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
