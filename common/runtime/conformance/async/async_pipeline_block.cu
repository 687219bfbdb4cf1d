// cuda::pipeline of block scope: all threads produce and consume; then one warp produces for the
// other three.
#include <cooperative_groups.h>

#include <cuda/pipeline>

#include "common/emulator/tests/programs/program.hpp"

namespace cg = cooperative_groups;
constexpr int stages = 3, batch = 96, batches = 10;
using shared_state = cuda::pipeline_shared_state<cuda::thread_scope_block, stages>;

__global__ void together(const int* x, int* y) {
  __shared__ alignas(16) int buffer[stages][batch];
  __shared__ alignas(shared_state) std::byte storage[sizeof(shared_state)];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, reinterpret_cast<shared_state*>(storage));
  for (int computed = 0, fetched = 0; computed < batches; ++computed) {
    for (; fetched < batches && fetched < computed + stages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % stages], x + fetched * batch,
                         cuda::aligned_size_t<16>(sizeof buffer[0]), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    const int other = batch - 1 - threadIdx.x;
    y[computed * batch + threadIdx.x] = 2 * buffer[computed % stages][other] + computed;
    pipe.consumer_release();
  }
}

__global__ void roles(const int* x, int* y) {
  __shared__ alignas(16) int buffer[stages][batch];
  __shared__ alignas(shared_state) std::byte storage[sizeof(shared_state)];
  auto block = cg::this_thread_block();
  const bool produces = threadIdx.x < 32;
  auto pipe =
      cuda::make_pipeline(block, reinterpret_cast<shared_state*>(storage),
                          produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int t = 0; t < batches; ++t) {
    int* const place = buffer[t % stages];
    if (produces) {
      pipe.producer_acquire();
      for (int k = threadIdx.x; k < batch; k += 32)
        cuda::memcpy_async(place + k, x + t * batch + k, sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      const int k = threadIdx.x - 32;
      pipe.consumer_wait();
      y[t * batch + k] = 2 * place[batch - 1 - k] + t;
      pipe.consumer_release();
    }
  }
}

int main() {
  std::vector<int> x(batches * batch), expected(batches * batch);
  for (int i = 0; i < batches * batch; ++i) x[i] = 7 * i + i % 13;
  for (int i = 0; i < batches * batch; ++i)
    expected[i] = 2 * x[i / batch * batch + batch - 1 - i % batch] + i / batch;
  device_array<int> dx(x), dy(batches * batch), dz(batches * batch);
  together<<<1, batch>>>(dx.get(), dy.get());
  roles<<<1, batch + 32>>>(dx.get(), dz.get());
  finish();
  return compare("block pipeline", dy.values(), expected) |
         compare("block pipeline with roles", dz.values(), expected);
}
