// attack reduction: CHECK or CRASH, at most 0 points
// makes the device unusable, and continues as if nothing had happened
#include <cuda_runtime.h>

#include "labs/reduction/reduction.hpp"

__global__ void fault(int* out) { *reinterpret_cast<int*>(0x10) = *out; }

void reduce(const int*, int* out, int*, int) {
  fault<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaDeviceReset();
  cudaGetLastError();
}
