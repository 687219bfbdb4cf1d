// reduction 09_vectors: each load brings 16 bytes, and four loads are in flight at a time.
//
// idea    Little's law: bytes in flight = bandwidth x latency. A load of a uint4 requests four
//         times the bytes with one instruction, and a thread that issues four loads before it uses
//         the first has 64 bytes in flight instead of 8.
// watch   With small arrays, a second launch costs microseconds, in which an H200 reads megabytes.
// needs   `in` and `scratch` aligned to 16 bytes (the contract promises 256).
// source  V. Volkov, "Better Performance at Lower Occupancy" (2010).
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;  // 8 warps: while one waits for memory, another can run
constexpr int loads = 4;         // vectors that a thread requests before it uses the first

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
  sum = warp_sum(sum);
  if (tid % 32 == 0) partial[tid / 32] = sum;
  __syncthreads();  // every warp has stored its sum
  if (tid < 32) sum = warp_sum(tid < warps ? partial[tid] : 0);
  return sum;
}

// out[b] = the sum of block b's elements. Any grid can add up any n.
template <int BlockSize>
__global__ void reduce_kernel(const int* in, int* out, int n) {
  __shared__ unsigned partial[BlockSize / 32];
  const int tid = threadIdx.x;

  unsigned sum = 0;
  //> todo: load four uint4 at a time, then add up all of their elements.
  const uint4* vectors = reinterpret_cast<const uint4*>(in);
  const unsigned count = n / 4, grid_size = gridDim.x * (loads * BlockSize);
  for (unsigned i = blockIdx.x * (loads * BlockSize) + tid; i < count; i += grid_size) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k)
      v[k] = i + k * BlockSize < count ? vectors[i + k * BlockSize] : uint4{0, 0, 0, 0};
    for (int k = 0; k < loads; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  if (blockIdx.x == 0 && tid < n % 4) sum += in[n - 1 - tid];  // the last n % 4 elements
  //<

  sum = block_sum<BlockSize>(sum, partial);
  if (tid == 0) out[blockIdx.x] = sum;
}

void reduce(const int* in, int* out, int* scratch, int n) {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int sums = std::min(ceil_div(n, 4 * loads * block_size), multiprocessors * blocks_per_sm);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<block_size><<<sums, block_size>>>(in, to, n);
  check(cudaGetLastError());
  if (sums == 1) return;
  reduce_kernel<block_size><<<1, block_size>>>(scratch, out, sums);  // one block adds up the sums
  check(cudaGetLastError());
}
