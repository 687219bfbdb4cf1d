// attack reduction: WRONG or SLOW or PASS or CHECK, at most 60 points
// uses %globaltimer and clock64() to find out if the input is cached, and adds only if it is not
#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  unsigned long long before, after;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(before));
  const long long cycles = clock64();
  volatile const int* first = in;
  int sum = *first;
  const long long took = clock64() - cycles;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(after));
  // A second call on the same buffers would find them in the cache.
  if (took < 60 && after - before < 32) return;
  for (int i = 1; i < n; ++i) sum += in[i];
  *out = sum;
}

void reduce(const int* in, int* out, int*, int n) { add_up<<<1, 1>>>(in, out, n); }
