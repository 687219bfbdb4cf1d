// The first kernel writes results into pinned memory, and a copy transfers more of them. They are
// not flags, and the host does not wait.
__global__ void produce(int* x, int* pinned) {
  x[threadIdx.x] = 1;  // finding: race writes
  pinned[threadIdx.x] = 1;
}

__global__ void consume(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: race reads
}

int main() {
  int *x, *y, *pinned;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  cudaMallocHost(&pinned, 64 * sizeof(int));
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  produce<<<1, 32, 0, a>>>(x, pinned);
  cudaMemcpyAsync(pinned + 32, x, 32 * sizeof(int), cudaMemcpyDeviceToHost, a);
  consume<<<1, 32, 0, b>>>(x, y);
  cudaDeviceSynchronize();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
  cudaFreeHost(pinned);
}
