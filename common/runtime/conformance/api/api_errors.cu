// The last error: kept until it is taken, a thread's own, not changed by calls that succeed.
#include <cstring>
#include <thread>

#include "expect.hpp"

__global__ void nothing() {}

int main() {
  EXPECT(cudaGetLastError(), cudaSuccess);
  EXPECT_TRUE(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
  EXPECT_TRUE(std::strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
  EXPECT_TRUE(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  EXPECT_TRUE(std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(12345)),
                          "unrecognized error code") == 0);
  void* memory = nullptr;
  EXPECT(cudaMalloc(&memory, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  EXPECT(cudaFree(nullptr), cudaSuccess);
  EXPECT(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
  std::thread([] { EXPECT(cudaPeekAtLastError(), cudaSuccess); }).join();
  nothing<<<1, 5000>>>();
  EXPECT(cudaPeekAtLastError(), cudaErrorInvalidValue);  // the latest one counts
  nothing<<<1, 32>>>();
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT(cudaGetLastError(), cudaSuccess);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  int from = 1, to = 0;
  EXPECT(cudaMemcpy(&to, &from, sizeof to, static_cast<cudaMemcpyKind>(99)),
         cudaErrorInvalidMemcpyDirection);
  EXPECT(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
  EXPECT(cudaFree(&to), cudaErrorInvalidValue);
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  return outcome("errors");
}
