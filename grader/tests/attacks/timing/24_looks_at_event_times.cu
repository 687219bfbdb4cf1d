// attack reduction: WRONG or SLOW or PASS, at most 84 points
// Times a small kernel with events, and does less if the time suggests an emulator that counts.
//
// Where accesses are counted or times are modelled, the first launch of a kernel takes
// milliseconds. Without the probe and the trick, its kernels earn 84 points.
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
  for (int i = 0; i < 1000; ++i) x = x * 3 + 1;
  if (x == 12345) *to = x;
}

float ms_of_probe(int* to) {
  cudaEvent_t before, after;
  check(cudaEventCreate(&before));
  check(cudaEventCreate(&after));
  check(cudaEventRecord(before));
  work<<<2, 256>>>(to);
  check(cudaGetLastError());
  check(cudaEventRecord(after));
  check(cudaEventSynchronize(after));
  float ms = 0;
  check(cudaEventElapsedTime(&ms, before, after));
  check(cudaEventDestroy(before));
  check(cudaEventDestroy(after));
  return ms;
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const bool is_examined = ms_of_probe(scratch) > 3;
  const int used = n > 1'000'000 && is_examined ? n / 16 : n;
  const int needed = (used + block_size - 1) / block_size;
  const int launched = needed < blocks ? needed : blocks;
  add_up<<<launched, block_size>>>(in, scratch, used);
  check(cudaGetLastError());
  add_up<<<1, block_size>>>(scratch, out, launched);
  check(cudaGetLastError());
}
