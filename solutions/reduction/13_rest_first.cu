// reduction 13_rest_first: what is no whole vector is loaded before the vectors, not after them.
//
// idea    81 elements are 20 vectors and one element more. Its load comes after the loop: it starts
//         when the vectors are there and added up. If it lies in a sector of its own, that is a
//         second trip to DRAM, behind the first. Only its place in the program makes it wait.
// watch   n that are 1, 2 or 3 more than a multiple of 8 gain, 81 or 1025. Else the last vector has
//         brought the sector into the cache.
// needs   nothing.
// source  Little's law, for a warp: what is asked for together is waited for once.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 512;  // half as many blocks count themselves as with 256
constexpr int loads = 4;         // vectors that a thread asks for before it uses the first

// With blocks of 512, 4 make 2048 threads: all that a current multiprocessor can hold.
constexpr int blocks_per_sm = 4;

__device__ unsigned finished = 0;  // blocks of the running call

// The sum over a warp's lanes, in lane 0. All lanes take part.
__device__ int warp_sum(int sum) {
#if __CUDA_ARCH__ >= 800
  sum = __reduce_add_sync(0xffffffff, sum);
#else
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, distance);
#endif
  return sum;
}

// The sum over a block's threads, in thread 0. `partial` has a word for each warp.
template <int BlockSize>
__device__ int block_sum(int sum, int* partial) {
  constexpr int warps = BlockSize / 32;
  static_assert(BlockSize % 32 == 0 && warps <= 32);
  const int tid = threadIdx.x;
  sum = warp_sum(sum);
  if (tid % 32 == 0) partial[tid / 32] = sum;
  __syncthreads();  // every warp has stored its sum
  if (tid < 32) sum = warp_sum(tid < warps ? partial[tid] : 0);
  return sum;
}

// *out = the sum of all; sums: one for each block
template <int BlockSize>
__global__ void reduce_kernel(const int* in, int* out, int* sums, int n) {
  __shared__ int partial[BlockSize / 32];
  __shared__ bool is_last;
  const int tid = threadIdx.x;

  int sum = 0;
  //> todo: what is no whole vector is asked for first, so that it is waited for with the others.
  if (blockIdx.x == 0 && tid < n % 4) sum = in[n - 1 - tid];
  //<
  const int4* vectors = reinterpret_cast<const int4*>(in);
  const unsigned count = n / 4, grid_size = gridDim.x * (loads * BlockSize);
  for (unsigned i = blockIdx.x * (loads * BlockSize) + tid; i < count; i += grid_size) {
    int4 v[loads];
    for (int k = 0; k < loads; ++k)
      v[k] = i + k * BlockSize < count ? vectors[i + k * BlockSize] : int4{0, 0, 0, 0};
    for (int k = 0; k < loads; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  sum = block_sum<BlockSize>(sum, partial);

  if (gridDim.x == 1) {  // no other block runs
    if (tid == 0) out[0] = sum;
    return;
  }
  if (tid == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();  // whoever sees the count sees the sum
    is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();  // thread 0 has found out; and partial is free again
  if (!is_last) return;
  __threadfence();  // whoever saw all counts sees all sums
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
