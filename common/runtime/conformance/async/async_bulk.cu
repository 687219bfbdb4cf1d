// Bulk copies: cuda::memcpy_async of aligned sizes, cuda::device::memcpy_async_tx with a
// transaction count, and cp.async.bulk by inline PTX from shared memory, also as a sum and, of half
// precision, as a minimum or maximum.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
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

// Shared memory to global memory: halves added, then limited to 3 and from below to -5.
__global__ void back_as_halves(__half* half, __nv_bfloat16* bfloat) {
  __shared__ alignas(128) __half values[n], most[n], least[n];
  __shared__ alignas(128) __nv_bfloat16 bfloats[n], most_bfloat[n], least_bfloat[n];
  for (int i = threadIdx.x; i < n; i += threads) {
    values[i] = __int2half_rn(i % 23 - 11);
    most[i] = __int2half_rn(3);
    least[i] = __int2half_rn(-5);
    bfloats[i] = __int2bfloat16_rn(i % 23 - 11);
    most_bfloat[i] = __int2bfloat16_rn(3);
    least_bfloat[i] = __int2bfloat16_rn(-5);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  const auto from = [](const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
  };
  // PTX does not order copies, so each is complete before the next.
  const auto wait = [] {
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  };
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%0], [%1], %2;" ::"l"(
          half),
      "r"(from(values)), "r"(2 * n)
      : "memory");
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;" ::"l"(
          bfloat),
      "r"(from(bfloats)), "r"(2 * n)
      : "memory");
  wait();
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f16 [%0], [%1], %2;" ::"l"(half),
      "r"(from(most)), "r"(2 * n)
      : "memory");
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.bf16 [%0], [%1], %2;" ::"l"(bfloat),
      "r"(from(most_bfloat)), "r"(2 * n)
      : "memory");
  wait();
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.f16 [%0], [%1], %2;" ::"l"(half),
      "r"(from(least)), "r"(2 * n)
      : "memory");
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.bf16 [%0], [%1], %2;" ::"l"(bfloat),
      "r"(from(least_bfloat)), "r"(2 * n)
      : "memory");
  wait();
}

template <class Half>
std::vector<float> as_floats(const std::vector<Half>& halves) {
  std::vector<float> floats;
  for (const Half h : halves) floats.push_back(static_cast<float>(h));
  return floats;
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
  std::vector<float> limited(n);
  for (int i = 0; i < n; ++i) limited[i] = std::max(-5, std::min(3, i % 23 - 11));
  device_array<__half> half(n);
  device_array<__nv_bfloat16> bfloat(n);
  back_as_halves<<<1, threads>>>(half.get(), bfloat.get());
  finish();
  return compare("bulk copy with a barrier", dy.values(), reversed) |
         compare("bulk copy with a transaction count", dz.values(), reversed) |
         compare("bulk copy to global memory", copy.values(), plain) |
         compare("bulk addition to global memory", sum.values(), sums) |
         compare("bulk reductions of f16", as_floats(half.values()), limited) |
         compare("bulk reductions of bf16", as_floats(bfloat.values()), limited);
}
