// launch 01_tiny_blocks, memory only: the same loads and stores, and no addition.
//
// keeps   Every access. The stored value must depend on both loads, or the compiler omits one of
//         them. It is the exclusive-or of their bits, one instruction.
// lacks   The addition, which was one instruction, too. This kernel is therefore the step again and
//         takes as long: there is nothing to remove.
// holds   32 blocks of one warp, the most that a multiprocessor has room for, as in the step.
// A yardstick for `./lab limits launch`: its result is wrong. Tested by labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 32;  // per block: a single warp

__global__ void add_kernel(const int* x, const int* y, int* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) z[i] = x[i] ^ y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  const int blocks = ceil_div(n, threads);
  add_kernel<<<blocks, threads>>>(reinterpret_cast<const int*>(x), reinterpret_cast<const int*>(y),
                                  reinterpret_cast<int*>(z), n);
  check(cudaGetLastError());
}
