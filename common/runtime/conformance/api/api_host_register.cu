// Memory of the program's own that is registered: copies use it, kernels reach it by the pointer
// that cudaHostGetDevicePointer gives, and it is distinguished.
#include <algorithm>

#include "expect.hpp"

__global__ void add_one(int* data, std::size_t n) {
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

int main() {
  // Whole pages: registration is a matter of pages.
  constexpr std::size_t n = 10 * 1024, bytes = n * sizeof(int);
  const auto pages = [] { return static_cast<int*>(std::aligned_alloc(4096, bytes)); };
  int *const host = pages(), *const back = pages();
  for (std::size_t i = 0; i < n; ++i) {
    host[i] = static_cast<int>(3 * i);
    back[i] = 0;
  }
  EXPECT(cudaHostRegister(host, bytes, cudaHostRegisterPortable), cudaSuccess);
  EXPECT(cudaHostRegister(host, bytes, cudaHostRegisterDefault),
         cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(cudaGetLastError(), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(cudaHostRegister(back, bytes, cudaHostRegisterDefault), cudaSuccess);
  int* device = nullptr;
  check(cudaMalloc(&device, bytes));
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  EXPECT(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT(cudaMemcpyAsync(back, device, bytes, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_TRUE(std::equal(host, host + n, back));
  int* as_device = nullptr;
  EXPECT(cudaHostGetDevicePointer(&as_device, back, 0), cudaSuccess);
  for (int round = 0; round < 2; ++round) {
    add_one<<<n / 256, 256, 0, stream>>>(as_device, n - 5);
    add_one<<<n / 256, 256, 0, stream>>>(as_device + 100, n - 200);
    EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
    for (std::size_t i = 0; i < n; ++i) {
      host[i] += (i < n - 5 ? 1 : 0) + (i >= 100 && i < n - 100 ? 1 : 0);
    }
    EXPECT_TRUE(std::equal(host, host + n, back));
    host[7] = back[7] = 1'000'000 * round;  // the host writes between the kernels
  }
  cudaPointerAttributes attributes;
  EXPECT(cudaPointerGetAttributes(&attributes, host + 5), cudaSuccess);
  EXPECT_TRUE(attributes.type == cudaMemoryTypeHost);
  EXPECT_TRUE(attributes.hostPointer == host + 5);
  EXPECT(cudaHostUnregister(host), cudaSuccess);
  EXPECT(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
  EXPECT(cudaPointerGetAttributes(&attributes, host + 5), cudaSuccess);
  EXPECT_TRUE(attributes.type == cudaMemoryTypeUnregistered);
  EXPECT(cudaHostUnregister(back), cudaSuccess);
  check(cudaStreamDestroy(stream));
  check(cudaFree(device));
  std::free(host);
  std::free(back);
  return outcome("registered host memory");
}
