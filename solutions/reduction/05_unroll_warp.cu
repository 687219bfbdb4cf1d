// reduction 05_unroll_warp: the last 32 sums need one warp and no block barrier.
//
// idea    Once 64 sums are left, only one warp works. Its levels are written out without a loop,
//         and __syncwarp() replaces the barrier at which seven idle warps also had to wait.
// watch   Up to Pascal, the lanes of a warp ran in lockstep, and `volatile` alone made this
//         correct: it forced the compiler to store each sum. Since Volta, lanes may diverge: all
//         reads of a level must come before its writes, and __syncwarp() ensures that.
// needs   A block size that is a power of two, at least 64. Missing elements count as 0.
// source  Harris (2007) and Filipovic, version 5, both for implicitly synchronous warps; CUDA C++
//         Programming Guide, "Independent Thread Scheduling".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;  // 8 warps: while one waits for memory, another can run

// A whole warp does one level. Lanes with nothing to add take part, too. That costs nothing, and
// the lanes that matter do not read the sums of these lanes.
__device__ void add_from(unsigned* partial, int tid, int distance) {
  const unsigned sum = partial[tid] + partial[tid + distance];
  __syncwarp();  // every lane has read
  partial[tid] = sum;
  __syncwarp();  // every lane has written
}

// out[b] = the sum of block b's elements, two per thread
__global__ void reduce_kernel(const int* in, int* out, int n) {
  extern __shared__ unsigned partial[];  // one per thread; sums that overflow wrap around
  const int tid = threadIdx.x;
  const int i = blockIdx.x * (2 * blockDim.x) + tid;

  unsigned sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  partial[tid] = sum;
  __syncthreads();

  for (int s = blockDim.x / 2; s > 32; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();  // outside the if: every thread must reach it
  }

  //> todo: let the first warp add up partial[0], ..., partial[63] without block barriers.
  if (tid < 32) {
    add_from(partial, tid, 32);
    add_from(partial, tid, 16);
    add_from(partial, tid, 8);
    add_from(partial, tid, 4);
    add_from(partial, tid, 2);
    add_from(partial, tid, 1);
  }
  //<

  if (tid == 0) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, 2 * block_size);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<<<sums, block_size, block_size * sizeof(unsigned)>>>(in, to, n);
  check(cudaGetLastError());
  if (sums > 1) reduce(to, out, scratch + sums, sums);
}
