// Launches that are refused before they run, and that the next good launch works.
#include "check.h"

__global__ void count(int* calls) {
  if (threadIdx.x == 0) atomicAdd(calls, 1);
}
__global__ void __launch_bounds__(128) bounded(int* calls) {
  if (threadIdx.x == 0) atomicAdd(calls, 1);
}
extern __shared__ int dynamic[];
__global__ void uses_shared(int* calls) {
  __shared__ int fixed[1024];
  fixed[threadIdx.x] = 1;
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(calls, fixed[1] * dynamic[1]);
}
// Over 64 registers per thread, so that 1024 threads do not fit into 65536.
__global__ void needs_registers(float* data, int rounds) {
  float a[96];
#pragma unroll
  for (int i = 0; i < 96; i++) a[i] = data[i * 32 + threadIdx.x % 32];
  for (int k = 0; k < rounds; k++) {
#pragma unroll
    for (int i = 0; i < 96; i++) a[i] = a[i] * a[(i + 1) % 96] + data[k];
  }
#pragma unroll
  for (int i = 0; i < 96; i++) data[i * 32 + threadIdx.x % 32] = a[i];
}

#define LAUNCH(...)                                                              \
  {                                                                              \
    __VA_ARGS__;                                                                 \
    std::printf("%s: %s\n", #__VA_ARGS__, cudaGetErrorName(cudaGetLastError())); \
  }

int main() {
  int* calls;
  cudaMalloc(&calls, 1 << 20);
  cudaMemset(calls, 0, 1 << 20);
  LAUNCH(count<<<0, 32>>>(calls))
  LAUNCH(count<<<1, 0>>>(calls))
  LAUNCH(count<<<1, 1024>>>(calls))
  LAUNCH(count<<<1, 1025>>>(calls))
  LAUNCH(count<<<1, dim3(32, 33)>>>(calls))
  LAUNCH(count<<<1, dim3(1, 1, 65)>>>(calls))
  LAUNCH(count<<<dim3(1, 65536), 1>>>(calls))
  LAUNCH(count<<<dim3(1, 1, 65536), 1>>>(calls))
  LAUNCH(bounded<<<1, 128>>>(calls))
  LAUNCH(bounded<<<1, 129>>>(calls))
  LAUNCH(uses_shared<<<1, 64, 45056>>>(calls))
  LAUNCH(uses_shared<<<1, 64, 45057>>>(calls))
  SHOW(cudaFuncSetAttribute(uses_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  LAUNCH(uses_shared<<<1, 64, 100000>>>(calls))
  LAUNCH(uses_shared<<<1, 64, 100001>>>(calls))
  SHOW(cudaFuncSetAttribute(uses_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  LAUNCH(needs_registers<<<1, 1024>>>(reinterpret_cast<float*>(calls) + 1024, 0))
  LAUNCH(needs_registers<<<1, 32>>>(reinterpret_cast<float*>(calls) + 1024, 0))
  void* arguments[] = {&calls};
  SHOW(cudaLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, nullptr));
  SHOW(cudaLaunchCooperativeKernel(count, dim3(2), dim3(32), arguments, 0, nullptr));
  SHOW(cudaLaunchCooperativeKernel(count, dim3(1'000'000), dim3(32), arguments, 0, nullptr));
  cudaGetLastError();
  SHOW(cudaDeviceSynchronize());
  int ran = 0;
  SHOW(cudaMemcpy(&ran, calls, sizeof ran, cudaMemcpyDeviceToHost));
  PRINT(ran);  // 1 + 1 + 1 + 1 + 2 blocks
}
