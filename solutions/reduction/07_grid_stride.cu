// reduction 07_grid_stride: few threads, each of which adds up many elements.
//
// idea    Brent's theorem: n / log n threads that first add log n elements each, in sequence, take
//         the same order of time as n threads, and the cost falls from n log n to n. In practice:
//         just enough blocks to fill the GPU, each striding over the array, and two launches.
// watch   The tree: barriers, stores and loads for sums that lanes could exchange directly.
// needs   A block size that is a power of two, from 64 to 1024.
// source  R. Brent, "The Parallel Evaluation of General Arithmetic Expressions" (1974); Harris
//         (2007) and Filipovic, version 7, who read past the end if n is not a multiple of 512.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;  // 8 warps: while one waits for memory, another can run

// With blocks of 256, 8 make 2048 threads: all that a multiprocessor of today can hold.
constexpr int blocks_per_sm = 8;

// One level by a whole warp. Lanes that have nothing to add do so all the same: it costs nothing,
// and what they add up is not read by those that matter.
__device__ void add_from(int* partial, int tid, int distance) {
  const int sum = partial[tid] + partial[tid + distance];
  __syncwarp();  // every lane has read
  partial[tid] = sum;
  __syncwarp();  // every lane has written
}

// out[b] = the sum of block b's elements: any grid adds up any n
template <int BlockSize>
__global__ void reduce_kernel(const int* in, int* out, int n) {
  static_assert(BlockSize >= 64 && BlockSize <= 1024 && (BlockSize & (BlockSize - 1)) == 0);
  __shared__ int partial[BlockSize];  // one per thread
  const int tid = threadIdx.x;

  int sum = 0;
  //> todo: add up the elements of this thread: two as before, then a whole grid further, ...
  const unsigned grid_size = gridDim.x * (2 * BlockSize);
  for (unsigned i = blockIdx.x * (2 * BlockSize) + tid; i < n; i += grid_size) {
    sum += in[i];
    if (i + BlockSize < n) sum += in[i + BlockSize];
  }
  //<
  partial[tid] = sum;
  __syncthreads();

  for (int s = BlockSize / 2; s > 32; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();  // outside the if: every thread must come here
  }

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
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int sums = std::min(ceil_div(n, 2 * block_size), multiprocessors * blocks_per_sm);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<block_size><<<sums, block_size>>>(in, to, n);
  check(cudaGetLastError());
  if (sums == 1) return;
  reduce_kernel<block_size><<<1, block_size>>>(scratch, out, sums);  // one block adds up the rest
  check(cudaGetLastError());
}
