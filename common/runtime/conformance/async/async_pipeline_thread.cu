// cuda::pipeline of thread scope: copies in flight in several stages, each thread for itself.
#include <cuda/pipeline>

#include "common/emulator/tests/programs/program.hpp"

struct alignas(16) quad {
  int a, b, c, d;
};

__global__ void stream(const quad* x, int* y, int rounds) {
  __shared__ quad buffer[2][32];
  auto pipe = cuda::make_pipeline();
  const int i = threadIdx.x;
  const auto fetch = [&](int t) {
    pipe.producer_acquire();
    cuda::memcpy_async(&buffer[t % 2][i], x + 32 * t + i, cuda::aligned_size_t<16>(sizeof(quad)),
                       pipe);
    pipe.producer_commit();
  };
  fetch(0);
  int sum = 0;
  for (int t = 0; t < rounds; ++t) {
    if (t + 1 < rounds) {
      fetch(t + 1);
      cuda::pipeline_consumer_wait_prior<1>(pipe);
    } else {
      pipe.consumer_wait();
    }
    const quad q = buffer[t % 2][i];
    sum = 5 * sum + q.a + 2 * q.b - q.c + 3 * q.d;
    pipe.consumer_release();
  }
  y[i] = sum;
}

int main() {
  const int rounds = 9;
  std::vector<quad> x(32 * rounds);
  for (int i = 0; i < 32 * rounds; ++i) x[i] = {i, 3 * i, i % 7, -i};
  std::vector<int> expected(32);
  for (int i = 0; i < 32; ++i)
    for (int t = 0; t < rounds; ++t) {
      const quad q = x[32 * t + i];
      expected[i] = 5 * expected[i] + q.a + 2 * q.b - q.c + 3 * q.d;
    }
  device_array<quad> dx(x);
  device_array<int> dy(32);
  stream<<<1, 32>>>(dx.get(), dy.get(), rounds);
  finish();
  return compare("thread pipeline", dy.values(), expected);
}
