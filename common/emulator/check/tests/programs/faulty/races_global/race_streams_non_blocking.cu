// A non-blocking stream is not ordered with the default stream.
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
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  produce<<<1, 32>>>(x);
  consume<<<1, 32, 0, other>>>(x, y);
  cudaDeviceSynchronize();
  cudaStreamDestroy(other);
  cudaFree(x);
  cudaFree(y);
}
