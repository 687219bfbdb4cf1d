// attack reduction: WRONG, at most 0 points
// adds 99 of 100 elements
#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n - n / 100; ++i) sum += in[i];
  *out = sum;
}

void reduce(const int* in, int* out, int*, int n) { add_up<<<1, 1>>>(in, out, n); }
