// attack reduction: CHECK or WRONG, at most 30 points
// adds within a block without a barrier, which is correct only by luck
#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  __shared__ int partial[64];
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += 64) sum += in[i];
  partial[threadIdx.x] = sum;
  if (threadIdx.x != 63) return;
  int all = 0;
  for (int i = 0; i < 64; ++i) all += partial[i];
  *out = all;
}

void reduce(const int* in, int* out, int*, int n) { add_up<<<1, 64>>>(in, out, n); }
