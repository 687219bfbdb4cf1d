// Each stream waits for an event that the other stream records after its kernel.
__global__ void produce(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void consume(const int* x, int* y) { y[threadIdx.x] = x[63 - threadIdx.x]; }

int main() {
  int host[64], *x, *y;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaStream_t a, b;
  cudaEvent_t produced, consumed;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&produced, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&consumed, cudaEventDisableTiming);
  for (int round = 0; round < 3; ++round) {
    produce<<<1, 64, 0, a>>>(x);
    cudaEventRecord(produced, a);
    cudaStreamWaitEvent(b, produced);
    consume<<<1, 64, 0, b>>>(x, y);
    cudaEventRecord(consumed, b);
    cudaStreamWaitEvent(a, consumed);
  }
  cudaMemcpyAsync(host, y, sizeof host, cudaMemcpyDeviceToHost, b);
  cudaStreamSynchronize(b);
  cudaEventDestroy(produced);
  cudaEventDestroy(consumed);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
  return host[0] == 63 ? 0 : 1;
}
