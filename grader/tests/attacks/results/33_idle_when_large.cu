// attack reduction: WRONG, at most 0 points
// adds up everything at the sizes of the checks, but only a sixteenth where time is modelled
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256, blocks = 1024;

__global__ void add_up(const int* in, int* out, int n) {
  __shared__ int partial[block_size];
  int sum = 0;
  for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size)
    sum += in[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = block_size / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int looked_at = n > 1 << 22 ? n / 16 : n;
  const int needed = (looked_at + block_size - 1) / block_size;
  const int launched = needed < blocks ? needed : blocks;
  add_up<<<launched, block_size>>>(in, scratch, looked_at);
  check(cudaGetLastError());
  add_up<<<1, block_size>>>(scratch, out, launched);
  check(cudaGetLastError());
}
