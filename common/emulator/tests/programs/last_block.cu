// A sum in one launch: each block stores its part, and the block that draws the last ticket adds
// the parts. Parts written before __threadfence() must be seen by the block that comes last. source
// CUDA C++ Programming Guide, "Memory Fence Functions".
#include "common/emulator/tests/programs/program.hpp"

constexpr int block_threads = 128;
constexpr int blocks = 37;

__device__ unsigned tickets = 0;

__device__ int sum_of_block(int value) {
  __shared__ int parts[block_threads];
  parts[threadIdx.x] = value;
  for (int half = block_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  __syncthreads();
  return parts[0];
}

__global__ void sum(const int* in, int n, volatile int* parts, int* out) {
  __shared__ bool last;
  int value = 0;
  for (int i = blockIdx.x * block_threads + threadIdx.x; i < n; i += gridDim.x * block_threads) {
    value += in[i];
  }
  const int part = sum_of_block(value);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = part;
    __threadfence();
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  value = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += block_threads) value += parts[i];
  const int total = sum_of_block(value);
  if (threadIdx.x == 0) *out = total;
}

int main() {
  constexpr int n = 100003;
  std::vector<int> in(n);
  int expected = 0;
  for (int i = 0; i < n; ++i) {
    in[i] = i % 1000 - 300;
    expected += in[i];
  }
  device_array<int> values(in), parts(blocks), out(3);
  // Three launches: each must reset the ticket counter to zero.
  for (int i = 0; i < 3; ++i) {
    sum<<<blocks, block_threads>>>(values.get(), n, parts.get(), out.get() + i);
  }
  finish();
  return compare("last_block", out.values(), {expected, expected, expected});
}
