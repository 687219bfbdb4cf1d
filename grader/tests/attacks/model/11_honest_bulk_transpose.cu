// honest transpose: PASS or SLOW, at least 50 points
// Bulk copies load the rows of a tile. Counters and times must include them.
#include <cstdint>

#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"
__global__ void plain(const float* in, float* out, int rows, int cols) {
  const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  if (r < rows && c < cols) out[c * size_t(rows) + r] = in[r * size_t(cols) + c];
}
__global__ void bulk(const float* in, float* out, int rows, int cols) {
  __shared__ alignas(128) float tile[32][36];
  __shared__ alignas(8) std::uint64_t bar;
  const unsigned b = unsigned(__cvta_generic_to_shared(&bar));
  const int col = blockIdx.x * 32, row = blockIdx.y * 32;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(b) : "memory");
    for (int k = 0; k < 32; ++k)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, "
          "[%2];" ::"r"(unsigned(__cvta_generic_to_shared(tile[k]))),
          "l"(in + size_t(row + k) * cols + col), "r"(b)
          : "memory");
  }
  __syncthreads();
  asm volatile(
      "{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" ::"r"(b)
      : "memory");
  for (int k = threadIdx.y; k < 32; k += 8)
    out[size_t(col + k) * rows + row + threadIdx.x] = tile[threadIdx.x][k];
}
void transpose(const float* in, float* out, int rows, int cols) {
  if (rows % 32 == 0 && cols % 32 == 0)
    bulk<<<dim3(cols / 32, rows / 32), dim3(32, 8)>>>(in, out, rows, cols);
  else
    plain<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
