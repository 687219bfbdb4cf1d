// reduction 06_unroll_all: the block size is a constant that the compiler knows.
//
// idea    As a template parameter, the block size is a constant of the kernel. The compiler knows
//         the number of levels and unrolls the loop by itself (look at the PTX). The loop counter
//         and the branch disappear, and offsets become constants.
// watch   This raised the rate by a third on a GTX 280, but by only 6 % on an H200. With one thread
//         per two elements, the cost (threads x time) is n log n for n additions. A block spends
//         most of its life starting up, computing addresses, and idling through the levels.
// needs   A block size that is a power of two, from 64 to 1024. Missing elements count as 0.
// source  Harris (2007) and Filipovic, version 6, who wrote out every level.
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
template <int BlockSize>
__global__ void reduce_kernel(const int* in, int* out, int n) {
  static_assert(BlockSize >= 64 && BlockSize <= 1024 && (BlockSize & (BlockSize - 1)) == 0);
  __shared__ unsigned partial[BlockSize];  // one per thread; sums that overflow wrap around
  const int tid = threadIdx.x;
  const int i = blockIdx.x * (2 * BlockSize) + tid;

  unsigned sum = i < n ? in[i] : 0;
  if (i + BlockSize < n) sum += in[i + BlockSize];
  partial[tid] = sum;
  __syncthreads();

  //> todo: do the levels down to 64 sums, in a loop whose bounds are constants.
  for (int s = BlockSize / 2; s > 32; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();  // outside the if: every thread must reach it
  }
  //<

  if (tid < 32) {
    add_from(partial, tid, 32);
    add_from(partial, tid, 16);
    add_from(partial, tid, 8);
    add_from(partial, tid, 4);
    add_from(partial, tid, 2);
    add_from(partial, tid, 1);
  }

  if (tid == 0) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, 2 * block_size);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<block_size><<<sums, block_size>>>(in, to, n);
  check(cudaGetLastError());
  if (sums > 1) reduce(to, out, scratch + sums, sums);
}
