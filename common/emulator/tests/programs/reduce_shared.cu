// Benchmark c: sums of blocks of 256 among 2^20 ints, by repeated halving in shared memory.
#include "common/emulator/tests/programs/measure.hpp"
#include "common/emulator/tests/programs/sums.hpp"

constexpr int block_threads = 256;

__global__ void sum_blocks(const int* in, int* out) {
  __shared__ int parts[block_threads];
  parts[threadIdx.x] = in[blockIdx.x * block_threads + threadIdx.x];
  __syncthreads();
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}

int main(int count, char** arguments) {
  const benchmark_request request(count, arguments);
  if (request.wanted) pin_to_one_core();
  constexpr int n = 1 << 20;
  const std::vector<int> in = numbers_to_add(n);
  device_array<int> values(in), sums(n / block_threads);
  const auto launch = [&] {
    sum_blocks<<<n / block_threads, block_threads>>>(values.get(), sums.get());
  };
  launch();
  finish();
  if (compare("reduce_shared", sums.values(), sums_of_blocks(in, block_threads)) != 0) return 1;
  return report_speed("reduce_shared", request, launch);
}
