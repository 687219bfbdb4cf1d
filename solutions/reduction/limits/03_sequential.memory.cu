// reduction 03_sequential, memory only: elements are loaded, one sum per block is stored.
//
// keeps   Every access to global memory, in the same order and number of launches. An element's
//         store to shared memory and the barrier after it: all that a thread does before it adds.
// lacks   The loop: its additions, its accesses to shared memory, its barriers.
// holds   8 blocks of 256 threads, all that a multiprocessor holds, as in the step.
// A yardstick for `./lab limits reduction`: its result is wrong. Tested by
// labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;  // 8 warps: while one waits for memory, another can run

__global__ void reduce_kernel(const int* in, int* out, int n) {
  extern __shared__ unsigned partial[];  // one per thread; sums that overflow wrap around
  const int tid = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + tid;

  partial[tid] = i < n ? in[i] : 0;
  __syncthreads();

  if (tid == 0) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, block_size);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<<<sums, block_size, block_size * sizeof(unsigned)>>>(in, to, n);
  check(cudaGetLastError());
  if (sums > 1) reduce(to, out, scratch + sums, sums);
}
