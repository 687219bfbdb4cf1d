// Memory that host and device share may have either kind in a copy. cudaMemcpyDefault fits any
// memory.
#include <cstdlib>

#define CHECK(call) \
  if ((call) != cudaSuccess) std::abort()

int main() {
  int *device, *pinned, *managed, own[16] = {};
  static int registered[16] = {};
  CHECK(cudaMalloc(&device, 64));
  CHECK(cudaMallocHost(&pinned, 64));
  CHECK(cudaMallocManaged(&managed, 64));
  CHECK(cudaHostRegister(registered, 64, cudaHostRegisterDefault));
  CHECK(cudaMemcpy(device, own, 64, cudaMemcpyHostToDevice));
  int* const both[] = {pinned, managed, registered};
  for (int* const shared : both) {
    CHECK(cudaMemcpy(shared, own, 64, cudaMemcpyHostToHost));
    CHECK(cudaMemcpy(shared, own, 64, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(shared, device, 64, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(shared, device, 64, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(device, shared, 64, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device, shared, 64, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(own, shared, 64, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(own, shared, 64, cudaMemcpyHostToHost));
  }
  CHECK(cudaMemcpy(own, device, 64, cudaMemcpyDefault));
  CHECK(cudaMemcpy(device, device + 8, 16, cudaMemcpyDefault));
  // The call does not copy, and the program checks the result.
  if (cudaMemcpy(own, device, 64, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 1;
  CHECK(cudaHostUnregister(registered));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(managed));
  CHECK(cudaFree(device));
}
