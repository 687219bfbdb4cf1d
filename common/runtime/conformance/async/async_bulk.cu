// Bulk copies: cuda::memcpy_async of aligned sizes, cuda::device::memcpy_async_tx with a
// transaction count, and cp.async.bulk by inline PTX from shared memory, also as a sum.
#include <cuda/barrier>

#include "common/emulator/tests/programs/program.hpp"

using block_barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int n = 512, threads = 128;

__global__ void with_barrier(const int* x, int* y) {
  __shared__ alignas(16) int tile[n];
  __shared__ alignas(block_barrier) std::byte storage[sizeof(block_barrier)];
  block_barrier& bar = *reinterpret_cast<block_barrier*>(storage);
  if (threadIdx.x == 0) init(&bar, threads);
  __syncthreads();
  if (threadIdx.x == 0) cuda::memcpy_async(tile, x, cuda::aligned_size_t<16>(sizeof tile), bar);
  bar.arrive_and_wait();
  for (int i = threadIdx.x; i < n; i += threads) y[i] = tile[n - 1 - i];
}

__global__ void with_transactions(const int* x, int* y) {
  __shared__ alignas(16) int tile[n];
  __shared__ alignas(block_barrier) std::byte storage[sizeof(block_barrier)];
  block_barrier& bar = *reinterpret_cast<block_barrier*>(storage);
  if (threadIdx.x == 0) {
    init(&bar, threads);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  block_barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(tile, x, cuda::aligned_size_t<16>(sizeof tile / 2), bar);
    cuda::device::memcpy_async_tx(tile + n / 2, x + n / 2,
                                  cuda::aligned_size_t<16>(sizeof tile / 2), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < n; i += threads) y[i] = tile[n - 1 - i];
}

// Shared memory to global memory: once as it is, twice added.
__global__ void back(int* copy, int* sum) {
  __shared__ alignas(128) int tile[n];
  for (int i = threadIdx.x; i < n; i += threads) tile[i] = 5 * i - 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%2], %3;\n"
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%1], [%2], %3;\n"
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%1], [%2], %3;\n"
      "cp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group 0;" ::"l"(copy),
      "l"(sum), "r"(from), "r"(static_cast<int>(sizeof tile))
      : "memory");
}

int main() {
  std::vector<int> x(n), reversed(n), plain(n), ones(n, 1), sums(n);
  for (int i = 0; i < n; ++i) x[i] = i * i % 701;
  for (int i = 0; i < n; ++i) {
    reversed[i] = x[n - 1 - i];
    plain[i] = 5 * i - 1;
    sums[i] = 1 + 2 * (5 * i - 1);
  }
  device_array<int> dx(x), dy(n), dz(n), copy(n), sum(ones);
  with_barrier<<<1, threads>>>(dx.get(), dy.get());
  with_transactions<<<1, threads>>>(dx.get(), dz.get());
  back<<<1, threads>>>(copy.get(), sum.get());
  finish();
  return compare("bulk copy with a barrier", dy.values(), reversed) |
         compare("bulk copy with a transaction count", dz.values(), reversed) |
         compare("bulk copy to global memory", copy.values(), plain) |
         compare("bulk addition to global memory", sum.values(), sums);
}
