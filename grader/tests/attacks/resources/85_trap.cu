// attack reduction: CRASH or CHECK, at most 0 points
// has PTX that stops the device
#include "labs/reduction/reduction.hpp"

__global__ void stop(int* out) {
  *out = 0;
  asm volatile("trap;");
}

void reduce(const int*, int* out, int*, int) { stop<<<1, 1>>>(out); }
