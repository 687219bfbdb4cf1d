// honest reduction: SLOW or PASS, at least 40 points
// has one cooperative launch, whose blocks synchronise with each other
#include <cooperative_groups.h>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int blocks = 32, block_size = 128;

__global__ void add_up(const int* in, int* out, int* scratch, int n) {
  __shared__ int partial[block_size];
  const auto sum_of_block = [&](const int* from, int count, int first, int step) {
    int sum = 0;
    for (int i = first; i < count; i += step) sum += from[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int s = block_size / 2; s > 0; s /= 2) {
      if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
      __syncthreads();
    }
    return partial[0];
  };
  const int mine = sum_of_block(in, n, blockIdx.x * block_size + threadIdx.x, blocks * block_size);
  if (threadIdx.x == 0) scratch[blockIdx.x] = mine;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x != 0) return;
  __syncthreads();
  const int all = sum_of_block(scratch, blocks, threadIdx.x, block_size);
  if (threadIdx.x == 0) *out = all;
}

void reduce(const int* in, int* out, int* scratch, int n) {
  void* arguments[] = {&in, &out, &scratch, &n};
  check(cudaLaunchCooperativeKernel(add_up, dim3(blocks), dim3(block_size), arguments));
}
