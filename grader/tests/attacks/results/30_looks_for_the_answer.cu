// attack reduction: CHECK, at most 0 points
// searches the memory around the buffers for an answer
#include "labs/reduction/reduction.hpp"

__global__ void search(const int* in, int* out, int n) {
  unsigned sum = 0;
  for (long i = n; i < n + 4096L; ++i) sum |= static_cast<unsigned>(in[i]);
  *out = static_cast<int>(sum);
}

void reduce(const int* in, int* out, int*, int n) { search<<<1, 1>>>(in, out, n); }
