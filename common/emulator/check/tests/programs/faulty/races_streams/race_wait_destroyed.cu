// Destroying an event or a stream, or freeing memory of a pool, does not wait for any work.
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
  cudaEvent_t produced;
  cudaEventCreate(&produced);
  cudaMallocAsync(&of_pool, 32 * sizeof(int), a);
  cudaStreamSynchronize(a);
  produce<<<1, 32, 0, a>>>(x);
  cudaEventRecord(produced, a);
  cudaEventDestroy(produced);
  cudaStreamDestroy(a);
  cudaFree(of_pool);
  consume<<<1, 32, 0, b>>>(x, y);
  cudaDeviceSynchronize();
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
}
