// matmul 09_warp_tiles, arithmetic only: every multiply-add, of operands that stay in registers.
//
// keeps   64 chains of n multiply-adds per thread. The operands come from the thread's number, so
//         the compiler does not know them. They may stay the same for every k, because each sum
//         builds on the one before it, and the compiler may not regroup float additions.
// lacks   All accesses to global and shared memory, and their barriers. `zero` is 0, which the
//         compiler does not know: all sums must be computed to find out that none is stored.
// holds   2 blocks of 256 threads, as in the step, because of the registers of 64 sums. There are
//         no more even if a compiler needs fewer registers.
// A yardstick for `./lab limits matmul`: its result is wrong. Tested by labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "common/lab/hold_blocks.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 128;       // of c per block
constexpr int depth = 8;        // columns of a, rows of b, in one pass of the loop
constexpr int thread_tile = 8;  // rows and columns of c per thread
constexpr int threads = (rows / thread_tile) * (cols / thread_tile);
constexpr int resident_blocks = 2;  // the step's, per multiprocessor

__global__ void matmul_kernel(float* c, int n, float zero) {
  const int tid = threadIdx.x;
  float a_k[thread_tile], b_k[thread_tile];
  for (int i = 0; i < thread_tile; ++i) {
    a_k[i] = tid + i;
    b_k[i] = tid - i;
  }

  float sum[thread_tile][thread_tile] = {};
  for (int k0 = 0; k0 < n; k0 += depth) {
    for (int k = 0; k < depth; ++k) {
      for (int i = 0; i < thread_tile; ++i) {
        for (int j = 0; j < thread_tile; ++j) sum[i][j] = fmaf(a_k[i], b_k[j], sum[i][j]);
      }
    }
  }

  float all = 0;
  for (int i = 0; i < thread_tile; ++i) {
    for (int j = 0; j < thread_tile; ++j) all += sum[i][j];
  }
  if (all * zero == 1) c[tid % n] = all;
}

void matmul(const float*, const float*, float* c, int n) {
  static const auto dynamic_bytes = hold_blocks(matmul_kernel, threads, resident_blocks);
  const dim3 grid(ceil_div(n, cols), ceil_div(n, rows));
  matmul_kernel<<<grid, threads, dynamic_bytes>>>(c, n, 0);
  check(cudaGetLastError());
}
