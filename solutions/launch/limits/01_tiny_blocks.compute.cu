// launch 01_tiny_blocks, compute only: all blocks, indices and additions, and no access.
//
// keeps   The grid: a block starts and ends for every 32 elements. The index, the test, and the
//         addition, whose operands the compiler does not know.
// lacks   Loads and stores. `zero` is 0, but the compiler does not know that, so the kernel must
//         compute the sum to find out whether to store it. It never does. (With `if (zero == 1)`
//         alone, the kernel would compute the sum only where it stores it: never.)
// holds   32 blocks of one warp, the most that a multiprocessor has room for, as in the step.
// A yardstick for `./lab limits launch`: its result is wrong. Tested by labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 32;  // per block: a single warp

__global__ void add_kernel(float* z, int n, float zero) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) {
    const float sum = __int_as_float(i) + __int_as_float(n);
    if (sum * zero == 1) z[i] = sum;
  }
}

void add(const float*, const float*, float* z, int n) {
  const int blocks = ceil_div(n, threads);
  add_kernel<<<blocks, threads>>>(z, n, 0);
  check(cudaGetLastError());
}
