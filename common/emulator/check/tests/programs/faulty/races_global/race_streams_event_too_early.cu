// The event is recorded before the kernel that it should wait for.
__global__ void produce(int* x) {
  x[threadIdx.x] = 1;  // finding: race writes
}

__global__ void consume(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: race reads
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  cudaStream_t a, b;
  cudaEvent_t produced;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreate(&produced);
  cudaEventRecord(produced, a);
  produce<<<1, 32, 0, a>>>(x);
  cudaStreamWaitEvent(b, produced);
  consume<<<1, 32, 0, b>>>(x, y);
  cudaDeviceSynchronize();
  cudaEventDestroy(produced);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
}
