// The host waits for an event in every way and in every kind of stream, and then submits work on
// the same memory to any stream.
__global__ void add(int* x) { x[threadIdx.x] += 1; }

int main() {
  int host[32], *x;
  cudaMalloc(&x, sizeof host);
  cudaStream_t all[5] = {nullptr, cudaStreamPerThread};
  cudaStreamCreate(&all[2]);
  cudaStreamCreateWithFlags(&all[3], cudaStreamNonBlocking);
  cudaStreamCreateWithPriority(&all[4], cudaStreamDefault, -1);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaMemset(x, 0, sizeof host);
  cudaDeviceSynchronize();
  for (cudaStream_t one : all) {
    for (cudaStream_t other : all) {
      for (int way = 0; way < 3; ++way) {
        cudaEventRecord(start, one);
        add<<<1, 32, 0, one>>>(x);
        cudaEventRecord(stop, one);
        float ms = 0;
        if (way == 0) cudaEventSynchronize(stop);
        if (way == 1)
          while (cudaEventQuery(stop) == cudaErrorNotReady) {
          }
        if (way == 2)
          while (cudaEventElapsedTime(&ms, start, stop) == cudaErrorNotReady) {
          }
        add<<<1, 32, 0, other>>>(x);
        cudaDeviceSynchronize();
      }
    }
  }
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int k = 2; k < 5; ++k) cudaStreamDestroy(all[k]);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaFree(x);
  return host[31] == 150 ? 0 : 1;
}
