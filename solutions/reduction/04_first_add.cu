// reduction 04_first_add: the first addition happens while loading.
//
// idea    A thread loads two elements that are block_size apart, and adds them at once. That takes
//         half as many blocks, each with as much work as before, and every thread adds. Two
//         independent loads also keep memory busier than one.
// watch   The access pattern is ideal now, yet memory is far from busy. The instructions of the
//         levels remain, above all the barriers.
// needs   A block size that is a power of two. Missing elements count as 0.
// source  M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); Filipovic, version 4.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;  // 8 warps: while one waits for memory, another can run

// out[b] = the sum of block b's elements, two per thread
__global__ void reduce_kernel(const int* in, int* out, int n) {
  extern __shared__ unsigned partial[];  // one per thread; sums that overflow wrap around
  const int tid = threadIdx.x;
  const int i = blockIdx.x * (2 * blockDim.x) + tid;

  //> todo: start from the sum of elements i and i + blockDim.x, as far as they exist.
  unsigned sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  partial[tid] = sum;
  //<
  __syncthreads();

  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();  // outside the if: every thread must reach it
  }

  if (tid == 0) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, 2 * block_size);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<<<sums, block_size, block_size * sizeof(unsigned)>>>(in, to, n);
  check(cudaGetLastError());
  if (sums > 1) reduce(to, out, scratch + sums, sums);
}
