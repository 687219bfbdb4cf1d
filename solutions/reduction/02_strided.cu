// reduction 02_strided: neighbouring threads do the work, at a growing stride.
//
// idea    Threads 0, 1, 2, ... do the same additions at the same places as threads 0, 2s, 4s, ...
//         did before. Whole warps run out of work and skip the level, and % is gone.
// watch   At stride 2s the lanes of a warp share few of the 32 banks of shared memory: 2 lanes per
//         bank at the first level, 4 at the next. Such conflicts are served one by one.
// needs   A block size that is a power of two. Missing elements count as 0.
// source  M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); Filipovic, version 2.
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

  for (int s = 1; s < blockDim.x; s *= 2) {
    //> todo: let the first threads of the block do the level's additions, at the same places.
    const int left = 2 * s * tid;
    if (left < blockDim.x) partial[left] += partial[left + s];
    //<
    __syncthreads();  // outside the if: every thread must reach it
  }

  if (tid == 0) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, block_size);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<<<sums, block_size, block_size * sizeof(unsigned)>>>(in, to, n);
  check(cudaGetLastError());
  if (sums > 1) reduce(to, out, scratch + sums, sums);
}
