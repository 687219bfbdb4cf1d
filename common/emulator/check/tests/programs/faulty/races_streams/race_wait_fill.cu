// cudaMemset() of device memory returns before it is done, and a non-blocking stream does not wait
// for it.
__global__ void add(int* x) {
  x[threadIdx.x] += 1;  // finding: race reads
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaStream_t apart;
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaMemset(x, 0, 32 * sizeof(int));
  add<<<1, 32, 0, apart>>>(x);  // finding: race called host
  cudaDeviceSynchronize();
  cudaStreamDestroy(apart);
  cudaFree(x);
}
