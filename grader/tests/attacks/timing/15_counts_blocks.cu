// attack reduction: WRONG or SLOW or PASS, at most 84 points
// counts whether all blocks of a launch run, and does less if they do not
//
// Without that, its kernels earn 84 points.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256, blocks = 992, probes = 100000;

__global__ void count(int* counter) {
  if (threadIdx.x == 0) atomicAdd(counter, 1);
}

__global__ void clear(int* counter) { *counter = 0; }

__global__ void add_up(const int* in, int* out, int n, const int* counter) {
  __shared__ int partial[block_size];
  if (counter != nullptr && *counter != probes) n /= 2;
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
  int* counter = nullptr;
  if (n > 1 << 22) {
    counter = scratch;
    scratch += 32;
    clear<<<1, 1>>>(counter);
    count<<<probes, 32>>>(counter);
  }
  const int needed = (n + block_size - 1) / block_size;
  const int launched = needed < blocks ? needed : blocks;
  add_up<<<launched, block_size>>>(in, scratch, n, counter);
  check(cudaGetLastError());
  add_up<<<1, block_size>>>(scratch, out, launched, nullptr);
  check(cudaGetLastError());
}
