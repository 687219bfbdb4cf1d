// attack reduction: HELD or INFRA or SLOW or PASS, at most 84 points
// uses an instruction that the emulator refuses where time is modelled, to void the speed goals
//
// Without that instruction, and on a GPU, which does not refuse it, its kernels earn 84 points.
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

__global__ void refused(int* out) {
  int product;
  asm volatile("vmad.s32.s32.s32 %0, %1, %1, %1;" : "=r"(product) : "r"(*out));
  *out = product;
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int needed = (n + block_size - 1) / block_size;
  const int launched = needed < blocks ? needed : blocks;
  add_up<<<launched, block_size>>>(in, scratch, n);
  check(cudaGetLastError());
  add_up<<<1, block_size>>>(scratch, out, launched);
  if (n > 1 << 22) refused<<<1, 1>>>(scratch);
  check(cudaGetLastError());
}
