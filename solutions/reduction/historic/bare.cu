// reduction, as it was: the last warp of version 5 without any barrier.
//
// This is for the first GPUs (2007 to 2009), whose warps ran in lockstep and whose compiler stored
// every sum. Neither holds today: the result is wrong. 05_unroll_warp is the correct version.
// source  Harris (2007) and Filipovic (2014), version 5.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;  // 8 warps: while one waits for memory, another can run

// out[b] = the sum of block b's elements, two per thread
__global__ void reduce_kernel(const int* in, int* out, int n) {
  extern __shared__ int partial[];  // one per thread
  const int tid = threadIdx.x;
  const int i = blockIdx.x * (2 * blockDim.x) + tid;

  int sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  partial[tid] = sum;
  __syncthreads();

  for (int s = blockDim.x / 2; s > 32; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();  // outside the if: every thread must reach it
  }

  if (tid < 32) {
    partial[tid] += partial[tid + 32];
    partial[tid] += partial[tid + 16];
    partial[tid] += partial[tid + 8];
    partial[tid] += partial[tid + 4];
    partial[tid] += partial[tid + 2];
    partial[tid] += partial[tid + 1];
  }

  if (tid == 0) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, 2 * block_size);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<<<sums, block_size, block_size * sizeof(int)>>>(in, to, n);
  check(cudaGetLastError());
  if (sums > 1) reduce(to, out, scratch + sums, sums);
}
