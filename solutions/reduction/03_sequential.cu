// reduction 03_sequential: neighbouring threads add neighbouring words.
//
// idea    Add the second half of the sums to the first, then the second quarter to the first
//         quarter, and so on. Adjacent lanes use adjacent words, so every lane of a warp has its
//         own bank. The sum does not depend on which pairs are formed.
// watch   Half of the threads only load an element and never add anything.
// needs   A block size that is a power of two. Missing elements count as 0.
// source  M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); Filipovic, version 3.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;  // 8 warps: while one waits for memory, another can run

// out[b] = the sum of block b's elements
__global__ void reduce_kernel(const int* in, int* out, int n) {
  extern __shared__ unsigned partial[];  // one per thread; sums that overflow wrap around
  const int tid = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + tid;

  partial[tid] = i < n ? in[i] : 0;
  __syncthreads();

  //> todo: fold the second half of partial[] onto the first, then half of that, down to one.
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();  // outside the if: every thread must reach it
  }
  //<

  if (tid == 0) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, block_size);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<<<sums, block_size, block_size * sizeof(unsigned)>>>(in, to, n);
  check(cudaGetLastError());
  if (sums > 1) reduce(to, out, scratch + sums, sums);
}
