// reduction 13_rest_first: the last n % 4 elements are loaded before the vectors, not after them.
//
// idea    81 elements are 20 vectors and one more element. A load that follows the loop starts only
//         when the vectors have arrived. If the element is in a sector of its own, this is a second
//         trip to DRAM. The load waits only because it comes late in the program.
// watch   Sizes that are 1, 2 or 3 above a multiple of 8 gain, such as 81 or 1025. For other sizes,
//         the last vector has already brought the sector into the cache.
// needs   nothing.
// source  Little's law for a warp: loads that are issued together are waited for once.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 512;  // half as many blocks to count as with 256
constexpr int loads = 4;         // vectors that a thread requests before it uses the first

// 4 blocks of 512 have 2048 threads, all that a current multiprocessor can hold.
constexpr int blocks_per_sm = 4;

__device__ unsigned finished = 0;  // blocks of the current call

// The sum over a warp's lanes, in lane 0. All lanes take part.
__device__ unsigned warp_sum(unsigned sum) {
#if __CUDA_ARCH__ >= 800
  // We measured the instruction for int. It wraps around like the one for unsigned.
  sum = __reduce_add_sync(0xffffffff, static_cast<int>(sum));
#else
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, distance);
#endif
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

// *out = the sum of all elements. `sums` holds one sum per block.
template <int BlockSize>
__global__ void reduce_kernel(const int* in, int* out, int* sums, int n) {
  __shared__ unsigned partial[BlockSize / 32];
  __shared__ bool is_last;
  const int tid = threadIdx.x;

  unsigned sum = 0;
  //> todo: load the last n % 4 elements first, so that all loads are waited for together.
  if (blockIdx.x == 0 && tid < n % 4) sum = in[n - 1 - tid];  // the last n % 4 elements
  //<
  const uint4* vectors = reinterpret_cast<const uint4*>(in);
  const unsigned count = n / 4, grid_size = gridDim.x * (loads * BlockSize);
  for (unsigned i = blockIdx.x * (loads * BlockSize) + tid; i < count; i += grid_size) {
    uint4 v[loads];
    for (int k = 0; k < loads; ++k)
      v[k] = i + k * BlockSize < count ? vectors[i + k * BlockSize] : uint4{0, 0, 0, 0};
    for (int k = 0; k < loads; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }

  sum = block_sum<BlockSize>(sum, partial);
  if (gridDim.x == 1) {  // no other block runs
    if (tid == 0) out[0] = sum;
    return;
  }
  if (tid == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();  // a block that sees the count sees the sum
    is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();  // is_last is set, and partial is free again
  if (!is_last) return;
  __threadfence();  // the block that saw all counts sees all sums
  sum = 0;
  for (int b = tid; b < gridDim.x; b += BlockSize) sum += sums[b];
  sum = block_sum<BlockSize>(sum, partial);
  if (tid == 0) *out = sum;
}

void reduce(const int* in, int* out, int* scratch, int n) {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = std::min(ceil_div(n, 4 * loads * block_size), multiprocessors * blocks_per_sm);
  reduce_kernel<block_size><<<blocks, block_size>>>(in, out, scratch, n);
  check(cudaGetLastError());
}
