// reduction 08_shuffle: the lanes of a warp pass sums from register to register.
//
// idea    A shuffle passes a register's value to another lane without a detour through shared
//         memory; 5 shuffles add up a warp. A block of 8 warps then needs 8 words of shared
//         memory and one barrier, instead of 256 words and three barriers. The tree takes a
//         fraction of the instructions.
// watch   The number of bytes in flight is the limit,
//         and each load requests only 4 bytes per lane.
// gain    None: with 16 or more elements per thread, the tree hardly matters.
// needs   A block size that is a multiple of 32, up to 1024.
// source  CUDA C++ Programming Guide, "Warp Shuffle Functions".
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;  // 8 warps: while one waits for memory, another can run

// 8 blocks of 256 have 2048 threads, all that a current multiprocessor can hold.
constexpr int blocks_per_sm = 8;

// The sum over a warp's lanes, in lane 0. All lanes take part.
__device__ unsigned warp_sum(unsigned sum) {
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  return sum;
}

// The sum over a block's threads, in thread 0. `partial` has one word per warp.
template <int BlockSize>
__device__ unsigned block_sum(unsigned sum, unsigned* partial) {
  constexpr int warps = BlockSize / 32;
  static_assert(BlockSize % 32 == 0 && warps <= 32);
  const int tid = threadIdx.x;
  //> todo: add up each warp by shuffles, then let the first warp add up the warps' sums.
  sum = warp_sum(sum);
  if (tid % 32 == 0) partial[tid / 32] = sum;
  __syncthreads();  // every warp has stored its sum
  if (tid < 32) sum = warp_sum(tid < warps ? partial[tid] : 0);
  //<
  return sum;
}

// out[b] = the sum of block b's elements. Any grid can add up any n.
template <int BlockSize>
__global__ void reduce_kernel(const int* in, int* out, int n) {
  __shared__ unsigned partial[BlockSize / 32];
  const int tid = threadIdx.x;

  unsigned sum = 0;
  const unsigned grid_size = gridDim.x * (2 * BlockSize);
  for (unsigned i = blockIdx.x * (2 * BlockSize) + tid; i < n; i += grid_size) {
    sum += in[i];
    if (i + BlockSize < n) sum += in[i + BlockSize];
  }

  sum = block_sum<BlockSize>(sum, partial);
  if (tid == 0) out[blockIdx.x] = sum;
}

void reduce(const int* in, int* out, int* scratch, int n) {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int sums = std::min(ceil_div(n, 2 * block_size), multiprocessors * blocks_per_sm);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<block_size><<<sums, block_size>>>(in, to, n);
  check(cudaGetLastError());
  if (sums == 1) return;
  reduce_kernel<block_size><<<1, block_size>>>(scratch, out, sums);  // one block adds up the sums
  check(cudaGetLastError());
}
