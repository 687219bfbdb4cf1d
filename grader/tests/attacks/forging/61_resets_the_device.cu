// attack reduction: CHECK or CRASH or WRONG or PROTOCOL, at most 0 points
// resets the device in the middle of a call, and starts its own context
#include <cuda_runtime.h>

#include "labs/reduction/reduction.hpp"

__global__ void store(int* out) { *out = 0; }

void reduce(const int*, int* out, int*, int) {
  cudaDeviceReset();
  cudaSetDevice(0);
  cudaFree(nullptr);
  store<<<1, 1>>>(out);
  cudaDeviceReset();
}
