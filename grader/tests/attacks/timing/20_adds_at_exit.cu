// attack reduction: WRONG or CHECK, at most 0 points
// Each call does the work of the call before it. The last work is done when the program ends.
#include <cstdlib>

#include "labs/reduction/reduction.hpp"

namespace {
struct {
  const int* in = nullptr;
  int* out = nullptr;
  int n = 0;
} open;
}  // namespace

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void finish() {
  if (open.in == nullptr) return;
  add_up<<<1, 1>>>(open.in, open.out, open.n);
  cudaDeviceSynchronize();
}

void reduce(const int* in, int* out, int*, int n) {
  static const int registered = std::atexit(finish);
  if (registered == 0) finish();
  open = {in, out, n};
}
