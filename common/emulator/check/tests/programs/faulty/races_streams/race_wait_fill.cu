// cudaMemset() of the device's memory returns before it is done, and a non-blocking stream does not
// wait for it.
__global__ void add(int* x) {
  x[threadIdx.x] += 1;  // finding: race reads
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  cudaStream_t apart;
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaMemset(y, 0, 32 * sizeof(int));
  cudaDeviceSynchronize();
  add<<<1, 32, 0, apart>>>(y);
  cudaDeviceSynchronize();
  cudaMemset(x, 0, 32 * sizeof(int));
  add<<<1, 32, 0, apart>>>(x);  // finding: race called host
  cudaDeviceSynchronize();
  cudaStreamDestroy(apart);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
