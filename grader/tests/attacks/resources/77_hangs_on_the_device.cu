// attack reduction: TIMEOUT or CHECK, at most 0 points
// has a kernel that waits for a value that never comes
#include "labs/reduction/reduction.hpp"

__global__ void wait(volatile int* out) {
  *out = 1;
  while (*out != 0) {
  }
}

void reduce(const int*, int* out, int*, int) { wait<<<1, 1>>>(out); }
