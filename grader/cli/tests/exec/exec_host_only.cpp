// A program without kernels, for exec_test.cpp.
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  std::printf("devices %d\n", devices);
  return code;
}
