// matmul 09_warp_tiles, shared memory only: every operand is read from its tile, and not used.
//
// keeps   Every read of shared memory, and both barriers. An exclusive-or combines the floats, one
//         machine instruction per two floats: 8 instead of 64 multiply-adds.
// lacks   All accesses to global memory, the stores to the tiles (except one, so that there is
//         something to read), the multiply-adds. `zero` is 0, but the compiler does not know that,
//         so the kernel must read everything to find out that nothing is stored.
// holds   2 blocks of 256 threads, as in the step, whose 121 registers per thread are the limit
//         (nvcc 13.0, sm_90). This one needs fewer, and more blocks would fit.
// A yardstick for `./lab limits matmul`: its result is wrong. Tested by labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "common/lab/hold_blocks.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/vector_access.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 128;       // of c per block
constexpr int depth = 8;        // columns of a, rows of b, between two barriers
constexpr int thread_tile = 8;  // rows and columns of c per thread
constexpr int threads = (rows / thread_tile) * (cols / thread_tile);
constexpr int lanes_y = 8, lanes_x = 4;                // a warp computes 64 x 32 elements of c
constexpr int warps_x = cols / lanes_x / thread_tile;  // side by side in a block
constexpr int resident_blocks = 2;                     // the step's, per multiprocessor

__global__ void matmul_kernel(float* c, int n, int zero) {
  alignas(16) __shared__ float a_tile[depth][rows + 4];  // transposed and padded
  alignas(16) __shared__ float b_tile[depth][cols];
  const int tid = threadIdx.x;
  const int warp = tid / 32, lane = tid % 32;
  const int lane_y = lane / 8 * 2 + lane / 2 % 2;
  const int lane_x = lane / 4 % 2 * 2 + lane % 2;
  const int y0 = warp / warps_x * lanes_y * thread_tile + 4 * lane_y;
  const int x0 = warp % warps_x * lanes_x * thread_tile + 4 * lane_x;

  for (int i = tid; i < depth * cols; i += threads) {
    a_tile[i / rows][i % rows] = i;
    b_tile[i / cols][i % cols] = n - i;
  }
  int used[thread_tile] = {};
  for (int k0 = 0; k0 < n; k0 += depth) {
    __syncthreads();  // every thread has fetched its part
    for (int k = 0; k < depth; ++k) {
      alignas(16) float a_k[thread_tile], b_k[thread_tile];
      for (int i = 0; i < thread_tile; i += 4)
        as_float4(a_k[i]) = as_float4(a_tile[k][y0 + i * lanes_y]);
      for (int j = 0; j < thread_tile; j += 4)
        as_float4(b_k[j]) = as_float4(b_tile[k][x0 + j * lanes_x]);
      for (int i = 0; i < thread_tile; ++i)
        used[i] ^= __float_as_int(a_k[i]) ^ __float_as_int(b_k[i]);
    }
    __syncthreads();  // every thread has used the tiles
  }

  int all = 0;
  for (int i = 0; i < thread_tile; ++i) all += used[i];
  if (all * zero == 1) c[tid % n] = all;
}

void matmul(const float*, const float*, float* c, int n) {
  static const auto dynamic_bytes = hold_blocks(matmul_kernel, threads, resident_blocks);
  const dim3 grid(ceil_div(n, cols), ceil_div(n, rows));
  matmul_kernel<<<grid, threads, dynamic_bytes>>>(c, n, 0);
  check(cudaGetLastError());
}
