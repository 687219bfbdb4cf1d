// cuda::barrier in shared memory: arrival apart from waiting, tokens, waits by parity, threads that
// drop out, arrivals for several, and one of device scope between blocks.
#include <cuda/barrier>

#include "common/emulator/tests/programs/program.hpp"

using block_barrier = cuda::barrier<cuda::thread_scope_block>;
using device_barrier = cuda::barrier<cuda::thread_scope_device>;
constexpr int threads = 128, rounds = 6;

// Round r: the threads from 16 r on are left. Each writes its place, arrives, works on what is its
// own, and reads its neighbour's place when all have arrived.
__global__ void split_phase(int* y) {
  __shared__ int value[2][threads];
  __shared__ alignas(block_barrier) std::byte storage[sizeof(block_barrier)];
  block_barrier& bar = *reinterpret_cast<block_barrier*>(storage);
  const int i = threadIdx.x;
  if (i == 0) init(&bar, threads);
  __syncthreads();
  int own = i, sum = 0;
  for (int r = 0; r < rounds; ++r) {
    if (i < 16 * r) {
      bar.arrive_and_drop();
      break;
    }
    value[r % 2][i] = 10 * r + i;
    auto token = bar.arrive();
    own = 3 * own + 1;
    if (i % 2 == 0)
      bar.wait(std::move(token));
    else
      bar.wait_parity(r % 2 != 0);
    const int next = i + 1 < threads ? i + 1 : 16 * r;
    sum += value[r % 2][next];
  }
  y[i] = sum + own;
}

// The last thread arrives for itself and for the two that do not come.
__global__ void for_others(int* y) {
  __shared__ alignas(block_barrier) std::byte storage[sizeof(block_barrier)];
  __shared__ int ready;
  block_barrier& bar = *reinterpret_cast<block_barrier*>(storage);
  if (threadIdx.x == 0) {
    init(&bar, 66);
    ready = 0;
  }
  __syncthreads();
  if (threadIdx.x == 63) {
    ready = 1;
    auto token = bar.arrive(3);
    while (!bar.try_wait_for(std::move(token), cuda::std::chrono::microseconds(5))) {
    }
  } else {
    bar.arrive_and_wait();
  }
  bar.wait_parity(false);  // is over
  y[threadIdx.x] = ready + 1;
}

__global__ void between_blocks(device_barrier* bar, int* partial, int* y) {
  if (threadIdx.x == 0) partial[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  bar->arrive_and_wait();
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void prepare(device_barrier* bar, int count) { new (bar) device_barrier(count); }

int main() {
  std::vector<int> expected(threads), all(64, 2), sums(4 * 64, 10);
  for (int i = 0; i < threads; ++i) {
    int own = i, sum = 0;
    for (int r = 0; r < rounds && i >= 16 * r; ++r) {
      own = 3 * own + 1;
      sum += 10 * r + (i + 1 < threads ? i + 1 : 16 * r);
    }
    expected[i] = sum + own;
  }
  device_array<int> dy(threads), dz(64), partial(4), ds(4 * 64);
  device_array<long long> bar(16);
  split_phase<<<1, threads>>>(dy.get());
  for_others<<<1, 64>>>(dz.get());
  auto* const shared_bar = reinterpret_cast<device_barrier*>(bar.get());
  static_assert(sizeof(device_barrier) <= 128);
  prepare<<<1, 1>>>(shared_bar, 4 * 64);
  between_blocks<<<4, 64>>>(shared_bar, partial.get(), ds.get());
  finish();
  return compare("barrier, split phase", dy.values(), expected) |
         compare("barrier, arrivals for others", dz.values(), all) |
         compare("barrier between blocks", ds.values(), sums);
}
