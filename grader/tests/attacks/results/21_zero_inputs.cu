// attack reduction: WRONG or CHECK, at most 0 points
// sets the input to zero, so that a reference that is computed later is zero, too
#include "labs/reduction/reduction.hpp"

__global__ void clear(int* in, int* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) in[i] = 0;
  if (threadIdx.x == 0) *out = 0;
}

void reduce(const int* in, int* out, int*, int n) {
  clear<<<1, 256>>>(const_cast<int*>(in), out, n);
}
