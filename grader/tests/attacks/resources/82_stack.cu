// attack reduction: CRASH, at most 0 points
// calls itself without end
#include "labs/reduction/reduction.hpp"

static int deeper(volatile int* from) {
  volatile int here[1024];
  here[0] = from[0] + 1;
  return deeper(here) + here[1];
}

void reduce(const int*, int*, int*, int n) {
  volatile int start = n;
  deeper(&start);
}
