// honest reduction: SLOW or PASS, at least 40 points
// has one launch per halving, in scratch memory
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

__global__ void halve(const int* in, int* out, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i / 2] = in[i] + (i + 1 < n ? in[i + 1] : 0);
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = (n + 1) / 2;
  int* const to = sums == 1 ? out : scratch;
  halve<<<(sums + 255) / 256, 256>>>(in, to, n);
  check(cudaGetLastError());
  if (sums > 1) reduce(to, out, scratch + sums, sums);
}
