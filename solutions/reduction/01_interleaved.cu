// reduction 01_interleaved: a block adds up its elements in shared memory.
//
// idea    A block reads block_size elements once and writes one sum; the levels in between stay on
//         the chip. It takes log256(n) launches instead of log2(n), and little more than n reads.
// watch   The threads that add are spread over all warps, so every warp executes every level, for
//         fewer and fewer of its lanes. Also, % by a variable takes many instructions.
// gain    On an H200, only for small n, where the number of launches matters. It moves a third of
//         the bytes with several times the instructions. For large n, it is slower than 00_pairs.
// needs   A block size that is a power of two. Missing elements count as 0.
// source  M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); Filipovic, version 1.
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

  //> todo: add up the block's partial[] into partial[0], level by level, all threads together.
  for (int s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) partial[tid] += partial[tid + s];
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
