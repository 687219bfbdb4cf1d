// cudaMemcpy() waits for the default stream and blocking streams, but not for non-blocking ones.
__global__ void produce(int* x) {
  x[threadIdx.x] = 1;  // finding: race writes
}

__global__ void consume(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: race reads
}

int main() {
  int host[32], *x, *y;
  cudaMalloc(&x, sizeof host);  // finding: allocated
  cudaMalloc(&y, sizeof host);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreate(&b);
  cudaMemset(y, 0, sizeof host);
  produce<<<1, 32, 0, a>>>(x);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  consume<<<1, 32, 0, b>>>(x, y);
  cudaDeviceSynchronize();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
}
