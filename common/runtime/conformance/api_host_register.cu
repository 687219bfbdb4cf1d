// Memory of the program's own that is registered: copies use it, and it is told apart.
#include "expect.hpp"

int main() {
  std::vector<int> host(10'000), back(10'000);
  for (int i = 0; i < 10'000; ++i) host[i] = 3 * i;
  const std::size_t bytes = host.size() * sizeof(int);
  EXPECT(cudaHostRegister(host.data(), bytes, cudaHostRegisterPortable), cudaSuccess);
  EXPECT(cudaHostRegister(host.data(), bytes, cudaHostRegisterDefault),
         cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(cudaGetLastError(), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(cudaHostRegister(back.data(), bytes, cudaHostRegisterDefault), cudaSuccess);
  int* device = nullptr;
  check(cudaMalloc(&device, bytes));
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  EXPECT(cudaMemcpyAsync(device, host.data(), bytes, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT(cudaMemcpyAsync(back.data(), device, bytes, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_TRUE(back == host);
  cudaPointerAttributes attributes;
  EXPECT(cudaPointerGetAttributes(&attributes, host.data() + 5), cudaSuccess);
  EXPECT_TRUE(attributes.type == cudaMemoryTypeHost);
  EXPECT_TRUE(attributes.hostPointer == host.data() + 5);
  EXPECT(cudaHostUnregister(host.data()), cudaSuccess);
  EXPECT(cudaHostUnregister(host.data()), cudaErrorHostMemoryNotRegistered);
  EXPECT(cudaPointerGetAttributes(&attributes, host.data() + 5), cudaSuccess);
  EXPECT_TRUE(attributes.type == cudaMemoryTypeUnregistered);
  EXPECT(cudaHostUnregister(back.data()), cudaSuccess);
  check(cudaStreamDestroy(stream));
  check(cudaFree(device));
  return outcome("registered host memory");
}
