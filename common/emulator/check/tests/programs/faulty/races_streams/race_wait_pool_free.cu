// cudaFree of memory from a pool does not wait for other work.
__global__ void produce(int* x) {
  x[threadIdx.x] = 1;  // finding: race writes
}

__global__ void consume(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: race reads
}

int main() {
  int *x, *y, *of_pool;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaMallocAsync(&of_pool, 32 * sizeof(int), a);
  cudaStreamSynchronize(a);
  produce<<<1, 32, 0, a>>>(x);
  cudaFree(of_pool);
  consume<<<1, 32, 0, b>>>(x, y);
  cudaDeviceSynchronize();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
