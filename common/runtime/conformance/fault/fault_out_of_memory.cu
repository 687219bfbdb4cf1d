// More memory than the GPU has: error 2, and the program continues.
#include "expect.hpp"

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }

int main() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  void* memory = &properties;
  EXPECT(cudaMalloc(&memory, properties.totalGlobalMem + (std::size_t{50} << 30)),
         cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError(), cudaSuccess);
  EXPECT(cudaMallocAsync(&memory, std::size_t{1} << 45, nullptr), cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
  // A large part can be had, given back and had again.
  for (int round = 0; round < 3; ++round) {
    EXPECT(cudaMalloc(&memory, properties.totalGlobalMem / 2), cudaSuccess);
    EXPECT(cudaFree(memory), cudaSuccess);
  }
  device_array<int> data(std::vector<int>(32, 5));
  add<<<1, 32>>>(data.get(), 2);
  finish();
  EXPECT_TRUE((data.values() == std::vector<int>(32, 7)));
  return outcome("out of memory");
}
