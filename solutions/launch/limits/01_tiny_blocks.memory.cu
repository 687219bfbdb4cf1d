// launch 01_tiny_blocks, memory only: the same loads and stores, and no addition.
//
// keeps   Every access. A store needs a value that both loads go into, or the compiler leaves one
//         of them out: an exclusive-or of the bits, one instruction.
// lacks   The addition: it was one instruction, too. So this is the step over again, and takes its
//         time: there is nothing to take away.
// holds   32 blocks of one warp: a multiprocessor has room for no more blocks, as in the step.
// A yardstick for `./lab limits launch`: its result is wrong. Tested by labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 32;  // of a block: a single warp

__global__ void add_kernel(const int* x, const int* y, int* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) z[i] = x[i] ^ y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  const int blocks = ceil_div(n, threads);
  add_kernel<<<blocks, threads>>>((const int*)x, (const int*)y, (int*)z, n);
  check(cudaGetLastError());
}
