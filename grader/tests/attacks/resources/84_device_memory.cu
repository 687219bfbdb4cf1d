// attack reduction: MEMORY or CHECK or CRASH or WRONG or TIMEOUT, at most 40 points
// allocates all of the GPU's memory and keeps it
#include <cuda_runtime.h>

#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void reduce(const int* in, int* out, int*, int n) {
  void* block = nullptr;
  for (int i = 0; i < 512 && cudaMalloc(&block, std::size_t{1} << 30) == cudaSuccess; ++i) {
  }
  cudaGetLastError();
  add_up<<<1, 1>>>(in, out, n);
}
