// attack reduction: SLOW or PASS, at most 60 points
// sleeps in the first calls, so that fewer calls are timed
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void reduce(const int* in, int* out, int*, int n) {
  static int calls = 0;
  if (++calls <= 2) usleep(500'000);
  add_up<<<1, 1>>>(in, out, n);
}
