// matmul 09_warp_tiles, memory only: every tile is fetched, and c is stored.
//
// keeps   Every access to global memory, the store of each fetched float to its place in a tile in
//         shared memory, and both barriers. The tiles are read once, at the end, so that the
//         compiler keeps the stores to them.
// lacks   The loop over k: its reads of shared memory and its multiply-adds.
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

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  alignas(16) __shared__ float a_tile[depth][rows + 4];  // transposed and padded
  alignas(16) __shared__ float b_tile[depth][cols];
  const int tid = threadIdx.x;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int warp = tid / 32, lane = tid % 32;
  const int lane_y = lane / 8 * 2 + lane / 2 % 2;
  const int lane_x = lane / 4 % 2 * 2 + lane % 2;
  const int y0 = warp / warps_x * lanes_y * thread_tile + 4 * lane_y;
  const int x0 = warp % warps_x * lanes_x * thread_tile + 4 * lane_x;

  for (int k0 = 0; k0 < n; k0 += depth) {
    for (int i = 0; i < rows * depth; i += 4 * threads) {
      const int y = (i + 4 * tid) / depth, k = (i + 4 * tid) % depth;
      const float4 a4 = load4(a, row0 + y, k0 + k, n);
      a_tile[k][y] = a4.x;
      a_tile[k + 1][y] = a4.y;
      a_tile[k + 2][y] = a4.z;
      a_tile[k + 3][y] = a4.w;
    }
    for (int i = 0; i < depth * cols; i += 4 * threads) {
      const int k = (i + 4 * tid) / cols, x = (i + 4 * tid) % cols;
      as_float4(b_tile[k][x]) = load4(b, k0 + k, col0 + x, n);
    }
    __syncthreads();  // every thread has fetched its part
    __syncthreads();  // every thread has used the tiles
  }

  for (int i = 0; i < thread_tile; ++i) {
    for (int j = 0; j < thread_tile; ++j) {
      const int row = row0 + y0 + i / 4 * 4 * lanes_y + i % 4;
      const int col = col0 + x0 + j / 4 * 4 * lanes_x + j % 4;
      const int used = __float_as_int(a_tile[i][y0]) ^ __float_as_int(b_tile[j][x0]);
      if (row < n && col < n) c[row * n + col] = __int_as_float(used);
    }
  }
}

void matmul(const float* a, const float* b, float* c, int n) {
  static const auto dynamic_bytes = hold_blocks(matmul_kernel, threads, resident_blocks);
  const dim3 grid(ceil_div(n, cols), ceil_div(n, rows));
  matmul_kernel<<<grid, threads, dynamic_bytes>>>(a, b, c, n);
  check(cudaGetLastError());
}
