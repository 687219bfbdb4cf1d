// attack reduction: WRONG or CHECK, at most 0 points
// looks for an answer in memory that other programs freed
#include <cuda_runtime.h>

#include "labs/reduction/reduction.hpp"

__global__ void copy_first(const int* from, int* out) { *out = *from; }

void reduce(const int*, int* out, int*, int) {
  int* found = nullptr;
  cudaMalloc(&found, sizeof(int));
  copy_first<<<1, 1>>>(found, out);
  cudaFree(found);
}
