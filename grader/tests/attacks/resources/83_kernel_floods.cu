// attack reduction: OUTPUT or TIMEOUT or WRONG, at most 0 points
// has a kernel that prints without end
#include <cstdio>

#include "labs/reduction/reduction.hpp"

__global__ void chatter(int n) {
  for (int i = 0; i < 1 << 20; ++i) printf("%d of %d: no end of it, and then some more\n", i, n);
}

void reduce(const int*, int*, int*, int n) { chatter<<<64, 256>>>(n); }
