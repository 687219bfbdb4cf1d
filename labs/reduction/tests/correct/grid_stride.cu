// reduction, correct: a thread adds the elements of a grid-stride loop.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;
constexpr int max_blocks = 1024;

// out[b] = the sum of the elements that the threads of block b added
__global__ void reduce_kernel(const int* in, int* out, int n) {
  __shared__ unsigned partial[block_size];
  const int tid = threadIdx.x;
  unsigned sum = 0;
  for (long long i = blockIdx.x * block_size + tid; i < n; i += gridDim.x * block_size)
    sum += in[i];
  partial[tid] = sum;
  __syncthreads();
  for (int s = block_size / 2; s > 32; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();
  }
  if (tid < 32) {
    sum = partial[tid] + partial[tid + 32];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (tid == 0) out[blockIdx.x] = sum;
  }
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int blocks = min(ceil_div(n, 2 * block_size), max_blocks);
  reduce_kernel<<<blocks, block_size>>>(in, blocks == 1 ? out : scratch, n);
  check(cudaGetLastError());
  if (blocks > 1) {
    reduce_kernel<<<1, block_size>>>(scratch, out, blocks);
    check(cudaGetLastError());
  }
}
