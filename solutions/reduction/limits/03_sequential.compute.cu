// reduction 03_sequential, compute only: the tree of additions, and no access to global memory.
//
// keeps   The loop with its accesses to shared memory and its barriers: they are this step's
//         computation. An element's index takes the place of the element.
// lacks   The load and the store. `zero` is 0, but the compiler does not know that, so the kernel
//         must compute the sum to find out that it is not stored.
// holds   8 blocks of 256 threads, all that a multiprocessor holds, as in the step.
// A yardstick for `./lab limits reduction`: its result is wrong. Tested by
// labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;  // 8 warps: while one waits for memory, another can run

__global__ void reduce_kernel(int* out, int n, int zero) {
  extern __shared__ unsigned partial[];  // one per thread; sums that overflow wrap around
  const int tid = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + tid;

  partial[tid] = i < n ? i : 0;
  __syncthreads();

  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();  // outside the if: every thread must reach it
  }

  if (tid == 0 && partial[0] * zero == 1) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, block_size);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<<<sums, block_size, block_size * sizeof(unsigned)>>>(to, n, 0);
  check(cudaGetLastError());
  if (sums > 1) reduce(in, out, scratch + sums, sums);
}
