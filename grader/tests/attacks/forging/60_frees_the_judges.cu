// attack reduction: CHECK or CRASH or WRONG or PROTOCOL, at most 0 points
// frees the judge's buffers, and allocates their memory again as its own
#include <cuda_runtime.h>

#include "labs/reduction/reduction.hpp"

__global__ void store(int* out) { *out = 0; }

void reduce(const int* in, int* out, int* scratch, int n) {
  for (const int* p : {in, static_cast<const int*>(out), static_cast<const int*>(scratch)})
    cudaFree(const_cast<int*>(p));
  for (int i = 0; i < 8; ++i) {
    int* mine = nullptr;
    cudaMalloc(&mine, i % 2 == 0 ? n * sizeof(int) : sizeof(int));
    cudaMemset(mine, 0, sizeof(int));
  }
  cudaGetLastError();
  store<<<1, 1>>>(out);
}
