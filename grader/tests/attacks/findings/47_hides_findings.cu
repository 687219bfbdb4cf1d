// attack reduction: CHECK or WRONG, at most 30 points
// has a race, and empties the file that reports it
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  __shared__ int last;
  last = threadIdx.x;
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  if (last >= 0) *out = sum;
}

static void empty_it() {
  if (const char* file = std::getenv("STEPWISE_FINDINGS")) close(open(file, O_WRONLY | O_TRUNC));
}

void reduce(const int* in, int* out, int*, int n) {
  static const bool once = std::atexit(empty_it) == 0;
  add_up<<<1, once ? 64 : 32>>>(in, out, n);
}

struct at_the_very_end {
  ~at_the_very_end() { empty_it(); }
} end;
