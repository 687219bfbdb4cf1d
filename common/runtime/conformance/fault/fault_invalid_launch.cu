// Launches that are refused harm nothing: the next good one works.
#include "expect.hpp"

__global__ void count(int* calls) {
  if (threadIdx.x == 0) atomicAdd(calls, 1);
}

__global__ void __launch_bounds__(64) bounded(int* calls) {
  if (threadIdx.x == 0) atomicAdd(calls, 1);
}

int main() {
  device_array<int> calls(1);
  int good = 0;
  const auto launch = [&](dim3 grid, dim3 block, std::size_t shared, cudaError_t wanted) {
    count<<<grid, block, shared>>>(calls.get());
    EXPECT(cudaGetLastError(), wanted);
    count<<<1, 32>>>(calls.get());
    EXPECT(cudaGetLastError(), cudaSuccess);
    good += wanted == cudaSuccess ? 2 : 1;
  };
  launch(0, 32, 0, cudaErrorInvalidValue);
  launch(1, 0, 0, cudaErrorInvalidValue);
  launch(1, 1024, 0, cudaSuccess);
  launch(1, 1025, 0, cudaErrorInvalidValue);
  launch(1, dim3(32, 16, 3), 0, cudaErrorInvalidValue);
  launch(1, dim3(1, 1, 65), 0, cudaErrorInvalidValue);
  launch(dim3(1, 65536), 1, 0, cudaErrorInvalidValue);
  launch(1, 32, 48 * 1024, cudaSuccess);
  launch(1, 32, 48 * 1024 + 1, cudaErrorInvalidValue);
  launch(1, 32, 1 << 20, cudaErrorInvalidValue);
  bounded<<<1, 64>>>(calls.get());
  EXPECT(cudaGetLastError(), cudaSuccess);
  bounded<<<1, 65>>>(calls.get());
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT(cudaLaunchKernel(nullptr, dim3(1), dim3(1), nullptr, 0, nullptr),
         cudaErrorInvalidDeviceFunction);
  EXPECT(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(calls.values()[0] == good + 1);
  return outcome("refused launches");
}
