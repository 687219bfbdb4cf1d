// The host waits for a stream of any kind, or queries it until its work is done. A copy in the
// stream, and an event for which the stream waited, count as well.
__global__ void add(int* x) { x[threadIdx.x] += 1; }

int main() {
  int host[32], *x, *pinned;
  cudaMalloc(&x, sizeof host);
  cudaMallocHost(&pinned, sizeof host);
  cudaStream_t all[5] = {nullptr, cudaStreamPerThread}, first;
  cudaStreamCreate(&all[2]);
  cudaStreamCreateWithFlags(&all[3], cudaStreamNonBlocking);
  cudaStreamCreateWithPriority(&all[4], cudaStreamNonBlocking, -1);
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaEvent_t done;
  cudaEventCreate(&done);
  cudaMemset(x, 0, sizeof host);
  cudaDeviceSynchronize();
  for (cudaStream_t one : all) {
    for (cudaStream_t other : all) {
      for (int way = 0; way < 4; ++way) {
        if (way == 3) {
          add<<<1, 32, 0, first>>>(x);
          cudaEventRecord(done, first);
          cudaStreamWaitEvent(one, done);
        } else {
          add<<<1, 32, 0, one>>>(x);
        }
        if (way == 2) cudaMemcpyAsync(pinned, x, sizeof host, cudaMemcpyDeviceToHost, one);
        if (way == 1)
          while (cudaStreamQuery(one) == cudaErrorNotReady) {
          }
        else
          cudaStreamSynchronize(one);
        add<<<1, 32, 0, other>>>(x);
        cudaDeviceSynchronize();
      }
    }
  }
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (cudaStream_t one : {all[2], all[3], all[4], first}) cudaStreamDestroy(one);
  cudaEventDestroy(done);
  cudaFree(x);
  cudaFreeHost(pinned);
  return host[31] == 200 ? 0 : 1;
}
