// attack reduction: SLOW or PASS, at most 60 points
// defines a clock that returns one microsecond for everything
//
// The program's own cudaEventElapsedTime takes precedence over the runtime's.
#include <cuda_runtime.h>

#include "labs/reduction/reduction.hpp"

extern "C" cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  *ms = 0.001f;
  return cudaSuccess;
}

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void reduce(const int* in, int* out, int*, int n) { add_up<<<1, 1>>>(in, out, n); }
