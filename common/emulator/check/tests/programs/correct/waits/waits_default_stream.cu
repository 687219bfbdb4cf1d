// An event or a host function in the legacy default stream comes after the work of all blocking
// streams, and the host waits for it, even though no kernel follows in that stream.
#include <atomic>

__global__ void add(int* x) { x[threadIdx.x] += 1; }

int main() {
  int host[32], *x, *other, *pinned;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&other, sizeof host);
  cudaMallocHost(&pinned, sizeof host);
  cudaStream_t blocking[3] = {cudaStreamPerThread}, apart;
  cudaStreamCreate(&blocking[1]);
  cudaStreamCreateWithPriority(&blocking[2], cudaStreamDefault, -1);
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaMemset(x, 0, sizeof host);
  cudaMemset(other, 0, sizeof host);
  cudaDeviceSynchronize();
  const auto set = [](void* at) { *static_cast<std::atomic<int>*>(at) = 1; };
  for (int way = 0; way < 11; ++way) {
    for (cudaStream_t one : blocking) {
      std::atomic<int> called{0};
      float ms = 0;
      cudaEventRecord(start);
      add<<<1, 32, 0, one>>>(x);
      if (way < 3) cudaEventRecord(stop, way == 0 ? cudaStreamLegacy : nullptr);
      if (way == 0) cudaEventSynchronize(stop);
      if (way == 1)
        while (cudaEventQuery(stop) == cudaErrorNotReady) {
        }
      if (way == 2)
        while (cudaEventElapsedTime(&ms, start, stop) == cudaErrorNotReady) {
        }
      if (way == 3) cudaStreamSynchronize(nullptr);
      if (way == 4)
        while (cudaStreamQuery(cudaStreamLegacy) == cudaErrorNotReady) {
        }
      if (way == 5) cudaLaunchHostFunc(nullptr, set, &called);
      if (way == 6)
        cudaStreamAddCallback(
            nullptr,
            [](cudaStream_t, cudaError_t, void* at) { *static_cast<std::atomic<int>*>(at) = 1; },
            &called, 0);
      if (way == 5 || way == 6)
        while (called == 0) {
        }
      if (way == 7) cudaMemcpy(pinned, other, sizeof host, cudaMemcpyDeviceToHost);
      if (way == 8) cudaMemset(pinned, 0, sizeof host);
      if (way == 9) {
        cudaMemsetAsync(other, 0, sizeof host, nullptr);
        cudaStreamSynchronize(nullptr);
      }
      if (way == 10) cudaMemcpy(other, host, sizeof host, cudaMemcpyHostToDevice);
      add<<<1, 32, 0, apart>>>(x);
      cudaStreamSynchronize(apart);
    }
  }
  // The order does not need the host: later work of blocking streams comes after the event.
  for (cudaStream_t one : blocking) {
    add<<<1, 32, 0, one>>>(x);
    cudaEventRecord(stop);
  }
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (cudaStream_t one : {blocking[1], blocking[2], apart}) cudaStreamDestroy(one);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaFree(x);
  cudaFree(other);
  cudaFreeHost(pinned);
  return host[31] == 69 ? 0 : 1;
}
