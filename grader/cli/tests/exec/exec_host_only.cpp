// What exec_test.cpp runs: a program without kernels.
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  std::printf("devices %d\n", devices);
  return code;
}
