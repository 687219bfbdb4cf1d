// reduction, a beginner's mistake: only some lanes shuffle, with the mask of all.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;

__global__ void reduce_kernel(const int* in, int* out, int n) {
  extern __shared__ int partial[];
  const int tid = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + tid;
  partial[tid] = i < n ? in[i] : 0;
  __syncthreads();
  int sum = partial[tid];
  for (int distance = 16; distance > 0; distance /= 2) {
    if (tid % 32 < distance) sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  if (tid % 32 == 0) atomicAdd(&partial[0], sum);
  __syncthreads();
  if (tid == 0) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, block_size);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<<<sums, block_size, block_size * sizeof(int)>>>(in, to, n);
  check(cudaGetLastError());
  if (sums > 1) reduce(to, out, scratch + sums, sums);
}
