// honest reduction: SLOW or PASS, at least 40 points
// prints a little on the host and on the device, as in a search for a mistake
#include <cstdio>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  if (n == 3) printf("in: %d %d %d\n", in[0], in[1], in[2]);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void reduce(const int* in, int* out, int*, int n) {
  std::printf("n = %d\n", n);
  add_up<<<1, 1>>>(in, out, n);
  check(cudaGetLastError());
}
