// cuda::atomic and cuda::std::atomic objects in shared memory: a histogram, a flag that one warp
// sets for another, and a block-wide minimum by compare-exchange.
#include <cuda/atomic>
#include <cuda/std/atomic>

#include "common/emulator/tests/programs/program.hpp"

constexpr int threads = 128, bins = 10;
using count = cuda::atomic<unsigned, cuda::thread_scope_block>;

__global__ void block(const int* x, unsigned* histogram, int* y) {
  __shared__ alignas(count) std::byte count_bytes[bins * sizeof(count)];
  __shared__ alignas(8) std::byte other_bytes[32];
  count* const counts = reinterpret_cast<count*>(count_bytes);
  auto* const flag = reinterpret_cast<cuda::std::atomic<int>*>(other_bytes);
  auto* const least = reinterpret_cast<cuda::std::atomic<long long>*>(other_bytes + 8);
  __shared__ int letter;
  const int t = threadIdx.x;
  if (t < bins) new (counts + t) count(0);
  if (t == 0) {
    new (flag) cuda::std::atomic<int>(0);
    new (least) cuda::std::atomic<long long>(1ll << 40);
  }
  __syncthreads();
  counts[x[t] % bins].fetch_add(1, cuda::std::memory_order_relaxed);
  long long seen = least->load();
  while (x[t] < seen && !least->compare_exchange_weak(seen, x[t])) {
  }
  if (t == threads - 1) {
    letter = 99;
    flag->store(1, cuda::std::memory_order_release);
  }
  if (t == 0) {
    while (flag->load(cuda::std::memory_order_acquire) == 0) {
    }
    y[0] = letter;
  }
  __syncthreads();
  if (t < bins) histogram[t] = counts[t].load();
  if (t == 0) y[1] = static_cast<int>(least->load());
}

int main() {
  std::vector<int> x(threads);
  std::vector<unsigned> expected(bins);
  int least = 1 << 30;
  for (int t = 0; t < threads; ++t) {
    x[t] = 17 + t * 7919 % 1013;
    ++expected[x[t] % bins];
    least = x[t] < least ? x[t] : least;
  }
  device_array<int> dx(x), y(2);
  device_array<unsigned> histogram(bins);
  block<<<1, threads>>>(dx.get(), histogram.get(), y.get());
  finish();
  return compare("atomics in shared memory", histogram.values(), expected) |
         compare("flag and minimum in shared memory", y.values(), {99, least});
}
