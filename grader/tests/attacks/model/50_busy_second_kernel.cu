// attack reduction: SLOW, at most 53 points
// Half of the lanes are idle at the first level, and more at each next level. A second kernel keeps
// all its lanes busy with nothing, so that most lanes are active on average.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;

__global__ void sum_blocks(const int* in, int* out, int n) {
  __shared__ int partial[block_size];
  const int tid = threadIdx.x, i = blockIdx.x * block_size + tid;
  partial[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int s = 1; s < block_size; s *= 2) {
    if (tid % (2 * s) == 0) partial[tid] += partial[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = partial[0];
}

__global__ void stay_busy(int times) {
  unsigned k = times;
  while (k != 0) asm volatile("sub.u32 %0, %0, 1;" : "+r"(k));
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, block_size);
  sum_blocks<<<sums, block_size>>>(in, sums == 1 ? out : scratch, n);
  check(cudaGetLastError());
  if (sums > 1) return reduce(scratch, out, scratch + sums, sums);
  stay_busy<<<264, 1024>>>(1000);
  check(cudaGetLastError());
}
