// Benchmark c': sums of blocks of 256 among 2^20 ints, by shuffles within the warps.
#include "common/emulator/tests/programs/measure.hpp"
#include "common/emulator/tests/programs/sums.hpp"

constexpr int block_threads = 256;
constexpr int warps = block_threads / 32;

__device__ int sum_of_warp(int value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

__global__ void sum_blocks(const int* in, int* out) {
  __shared__ int parts[warps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int value = sum_of_warp(in[blockIdx.x * block_threads + threadIdx.x]);
  if (lane == 0) parts[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = sum_of_warp(lane < warps ? parts[lane] : 0);
    if (lane == 0) out[blockIdx.x] = value;
  }
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
  if (compare("reduce_shuffle", sums.values(), sums_of_blocks(in, block_threads)) != 0) return 1;
  return report_speed("reduce_shuffle", request, launch);
}
