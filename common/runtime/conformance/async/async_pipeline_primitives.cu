// The __pipeline_* functions of cuda_pipeline.h: copies of 4, 8 and 16 bytes, zero fill, groups in
// flight, and an arrival at an mbarrier.
#include <cuda_pipeline.h>

#include "common/emulator/tests/programs/program.hpp"

constexpr int threads = 64, stages = 4, rounds = 11;

__global__ void stream(const int* x, int* y) {
  __shared__ alignas(16) int buffer[stages][threads];
  __shared__ __mbarrier_t bar;
  const int i = threadIdx.x;
  if (i == 0) __mbarrier_init(&bar, threads);
  __syncthreads();
  for (int t = 0; t < stages - 1; ++t) {
    __pipeline_memcpy_async(&buffer[t][i], x + t * threads + i, 4);
    __pipeline_commit();
  }
  int sum = 0;
  for (int t = 0; t < rounds; ++t) {
    const int next = t + stages - 1;
    if (next < rounds)
      __pipeline_memcpy_async(&buffer[next % stages][i], x + next * threads + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(stages - 1);
    sum = 3 * sum + buffer[t % stages][i];
  }
  y[i] = sum;
  __syncthreads();
  // Pairs and quads, the last quad with four bytes of source; everyone waits at the barrier.
  int* tail = buffer[0];
  if (i < 16)
    __pipeline_memcpy_async(tail + 2 * i, x + 2 * i, 8);
  else if (i < 24)
    __pipeline_memcpy_async(tail + 32 + 4 * (i - 16), x + 4 * i, 16, i == 23 ? 12 : 0);
  __pipeline_arrive_on(&bar);
  const auto token = __mbarrier_arrive(&bar);
  while (!__mbarrier_test_wait(&bar, token)) {
  }
  y[threads + i] = tail[i];
}

int main() {
  std::vector<int> x(rounds * threads);
  for (int i = 0; i < rounds * threads; ++i) x[i] = i * i % 1009 - 300;
  device_array<int> dx(x), dy(2 * threads);
  stream<<<1, threads>>>(dx.get(), dy.get());
  finish();
  std::vector<int> expected(2 * threads);
  for (int i = 0; i < threads; ++i) {
    int sum = 0;
    for (int t = 0; t < rounds; ++t) sum = 3 * sum + x[t * threads + i];
    expected[i] = sum;
    expected[threads + i] = i < 32 ? x[i] : i < 61 ? x[i + 32] : 0;
  }
  return compare("pipeline primitives", dy.values(), expected);
}
