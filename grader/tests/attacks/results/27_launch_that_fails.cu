// attack reduction: CRASH, at most 0 points
// requests more shared memory than there is, and hopes that an old result is still there
#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  extern __shared__ int partial[];
  partial[threadIdx.x] = in[0];
  *out = n;
}

void reduce(const int* in, int* out, int*, int n) { add_up<<<1, 256, 1 << 24>>>(in, out, n); }
