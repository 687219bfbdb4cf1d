// What exec_test.cpp runs: a program of the driver API, alone or with the runtime (WITH_RUNTIME).
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int devices = 0;
  const CUresult code = cuInit(0);
#ifdef WITH_RUNTIME
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
#endif
  std::printf("devices %d\n",
              code == CUDA_SUCCESS && cuDeviceGetCount(&devices) == CUDA_SUCCESS ? devices : -1);
  return code;
}
