// attack reduction: TIMEOUT or CHECK or CRASH or MEMORY, at most 0 points
// launches the maximum number of blocks, and each thread has half a megabyte of local memory
#include "labs/reduction/reduction.hpp"

__global__ void fill(int* out) {
  int mine[131000];
  for (int i = 0; i < 131000; ++i) mine[i] = i + threadIdx.x;
  for (int i = 1; i < 131000; ++i) mine[i] += mine[mine[i - 1] % 131000];
  if (mine[130999] == 42) *out = 0;
}

void reduce(const int*, int* out, int*, int) { fill<<<2147483647, 1024>>>(out); }
