// reduction, as it was: the last warp with its own sum in a register, the others' volatile.
//
// The lecture's version for GPUs of 2010 to 2016: a thread reads one word per level instead of two.
// It has the same race as volatile.cu.
// source  Filipovic (2014), "Notes for c.c. 2.0".
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
    volatile int* const s = partial;
    sum = s[tid];
    s[tid] = sum = sum + s[tid + 32];
    s[tid] = sum = sum + s[tid + 16];
    s[tid] = sum = sum + s[tid + 8];
    s[tid] = sum = sum + s[tid + 4];
    s[tid] = sum = sum + s[tid + 2];
    s[tid] = sum = sum + s[tid + 1];
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
