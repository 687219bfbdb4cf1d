// A copy's kind compared with the locations of its areas: the results of an H200 (CUDA 13.0).
#include "common/runtime/conformance/expect.hpp"

int main() {
  char *device = nullptr, *other = nullptr;
  std::vector<char> pageable(4096, 5);
  check(cudaMalloc(&device, 4096));
  check(cudaMalloc(&other, 4096));
  check(cudaMemset(other, 7, 4096));

  // Between two device pointers, the kind may name either direction.
  for (const cudaMemcpyKind kind :
       {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}) {
    char found = 0;
    check(cudaMemset(device, 0, 4096));
    EXPECT(cudaMemcpy(device, other, 4096, kind), cudaSuccess);
    check(cudaMemcpy(&found, device + 4095, 1, cudaMemcpyDefault));
    EXPECT_TRUE(found == 7);
    check(cudaMemset(device, 0, 4096));
    EXPECT(cudaMemcpyAsync(device, other, 4096, kind, nullptr), cudaSuccess);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&found, device + 4095, 1, cudaMemcpyDefault));
    EXPECT_TRUE(found == 7);
  }

  // Pageable host memory never counts as device memory.
  EXPECT(cudaMemcpy(pageable.data(), device, 4096, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(device, pageable.data(), 4096, cudaMemcpyDeviceToDevice),
         cudaErrorInvalidValue);
  EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_TRUE(pageable[4095] == 5);

  check(cudaFree(device));
  check(cudaFree(other));
  return outcome("api_copy_kinds");
}
