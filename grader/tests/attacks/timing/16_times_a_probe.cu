// attack reduction: WRONG or SLOW or PASS, at most 84 points
// times a kernel of many blocks with the host's clock, and does less if only few blocks ran
//
// Without that, its kernels earn 84 points.
#include <chrono>

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

__global__ void work(int* to) {
  int x = threadIdx.x;
  for (int i = 0; i < 100; ++i) x = x * 3 + 1;
  if (x == 12345) *to = x;
}

double ms_of(int grid, int* to) {
  const auto start = std::chrono::steady_clock::now();
  work<<<grid, 256>>>(to);
  cudaDeviceSynchronize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

void reduce(const int* in, int* out, int* scratch, int n) {
  int looked_at = n;
  if (n > 1 << 22 && ms_of(40000, scratch) < 20 * ms_of(200, scratch)) looked_at /= 2;
  const int needed = (looked_at + block_size - 1) / block_size;
  const int launched = needed < blocks ? needed : blocks;
  add_up<<<launched, block_size>>>(in, scratch, looked_at);
  check(cudaGetLastError());
  add_up<<<1, block_size>>>(scratch, out, launched);
  check(cudaGetLastError());
}
