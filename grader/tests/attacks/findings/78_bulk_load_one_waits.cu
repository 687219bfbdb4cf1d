// attack reduction: CHECK or WRONG, at most 90 points
// Bulk copies load tiles. Only the first warp waits for their mbarrier; the others read at once.
#include <cstdint>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
constexpr int ints = 2048;
__global__ void sum_tiles(const int* in, int* out, int n) {
  __shared__ alignas(128) int tile[ints];
  __shared__ alignas(8) std::uint64_t bar;
  __shared__ int sums[8];
  const unsigned b = unsigned(__cvta_generic_to_shared(&bar));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  int sum = 0;
  unsigned phase = 0;
  const int whole = n / ints;
  for (int t = blockIdx.x; t < whole; t += gridDim.x, phase ^= 1) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 8192;" ::"r"(b) : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 8192, "
          "[%2];" ::"r"(unsigned(__cvta_generic_to_shared(tile))),
          "l"(in + size_t(t) * ints), "r"(b)
          : "memory");
    }
    __syncthreads();
    if (threadIdx.x < 32)
      asm volatile(
          "{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(
              b),
          "r"(phase)
          : "memory");
    for (int i = threadIdx.x; i < ints; i += 256) sum += tile[i];
    __syncthreads();
  }
  for (int i = whole * ints + blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    sum += in[i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) sum += sums[w];
  atomicAdd(out, sum);
}
void reduce(const int* in, int* out, int*, int n) {
  check(cudaMemsetAsync(out, 0, 4));
  sum_tiles<<<1056, 256>>>(in, out, n);
  check(cudaGetLastError());
}
