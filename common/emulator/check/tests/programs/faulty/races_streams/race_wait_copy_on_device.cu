// A copy within device memory returns before it is done.
__global__ void produce(int* x) {
  x[threadIdx.x] = 1;  // finding: race writes
}

__global__ void consume(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: race reads
}

int main() {
  int *x, *y, *z;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  cudaMalloc(&z, 32 * sizeof(int));
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  produce<<<1, 32, 0, a>>>(x);
  cudaMemcpy(z, x, 32 * sizeof(int), cudaMemcpyDeviceToDevice);
  consume<<<1, 32, 0, b>>>(x, y);
  cudaDeviceSynchronize();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
  cudaFree(z);
}
