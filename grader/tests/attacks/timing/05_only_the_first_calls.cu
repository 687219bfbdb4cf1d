// attack reduction: WRONG, at most 0 points
// is correct for three calls, and then stores nothing
#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void reduce(const int* in, int* out, int*, int n) {
  static int calls = 0;
  if (++calls <= 3) add_up<<<1, 1>>>(in, out, n);
}
