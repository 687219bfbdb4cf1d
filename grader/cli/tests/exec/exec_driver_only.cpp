// What exec_test.cpp runs: a program of the driver API alone.
#include <cuda.h>

#include <cstdio>

int main() {
  int devices = 0;
  const CUresult code = cuInit(0);
  std::printf("devices %d\n",
              code == CUDA_SUCCESS && cuDeviceGetCount(&devices) == CUDA_SUCCESS ? devices : -1);
  return code;
}
