// honest reduction: PASS or SLOW, at least 75 points
// Each block adds up a piece of the input. The largest pieces are several times the smallest. The
// last block to end adds up the sums, so it also has more work than the others.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
__device__ unsigned ended;
__device__ int block_sum(unsigned s, int* part) {
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = int(s);
  __syncthreads();
  s = threadIdx.x < 8 ? part[threadIdx.x] : 0;
  for (int d = 4; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  __syncthreads();
  return int(s);
}
__device__ int begin_of(int block, int count) {
  const int each = (count + gridDim.x - 1) / gridDim.x, moved = int(block * 2654435761U >> 29) - 4;
  return block == 0 ? 0 : min(count, max(0, block * each + moved * (each / 8)) / 8 * 8);
}
__global__ void k(const int4* in, int* out, int* scratch, int n) {
  __shared__ int part[8];
  __shared__ bool is_last;
  const int end = blockIdx.x + 1 == gridDim.x ? n / 4 : begin_of(blockIdx.x + 1, n / 4);
  unsigned s = 0;
  for (int i = begin_of(blockIdx.x, n / 4) + threadIdx.x; i < end; i += 256) {
    const int4 v = in[i];
    s += v.x + v.y + v.z + v.w;
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4)
    s += reinterpret_cast<const int*>(in)[n / 4 * 4 + threadIdx.x];
  const int sum = block_sum(s, part);
  if (threadIdx.x == 0) {
    scratch[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(&ended, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  s = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += 256) s += __ldcg(scratch + i);
  const int all = block_sum(s, part);
  if (threadIdx.x != 0) return;
  *out = all;
  ended = 0;
}
void reduce(const int* in, int* out, int* scratch, int n) {
  const int blocks = n < 500000 ? 8 : n < 4000000 ? 132 : 132 * 16;
  k<<<blocks, 256>>>(reinterpret_cast<const int4*>(in), out, scratch, n);
  check(cudaGetLastError());
}
