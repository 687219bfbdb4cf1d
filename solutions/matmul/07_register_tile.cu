// matmul 07_register_tile: every thread computes 8 x 8 elements of c.
//
// idea    Rank-1 updates in both directions: 8 floats of a's column k and 8 of b's row k, loaded
//         from shared memory into registers, serve 64 multiply-adds: a quarter of a float per
//         multiply-add instead of one. Tiles of 128 x 128 also divide global reads by 128.
// watch   A column of a's tile takes one load per float. And 64 sums leave room for only a quarter
//         of the threads that a multiprocessor could hold, so each thread must do more to keep the
//         GPU busy. This is slower than 06 at n = 1024, with 64 tiles for 132 multiprocessors, and
//         at n = 3000, where 576 tiles on 264 resident blocks leave the third wave almost empty.
// needs   Elements outside the matrices count as 0.
// source  V. Volkov, "Better Performance at Lower Occupancy" (2010); S. Boehm, SGEMM_CUDA (2022),
//         kernel 5.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 128;       // of c per block
constexpr int depth = 8;        // columns of a, rows of b, between two barriers
constexpr int thread_tile = 8;  // rows and columns of c per thread
constexpr int threads = (rows / thread_tile) * (cols / thread_tile);

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[rows][depth + 1];  // padded: rows 8 apart lie in different banks
  __shared__ float b_tile[depth][cols];
  const int tid = threadIdx.x;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int y0 = tid / (cols / thread_tile) * thread_tile,
            x0 = tid % (cols / thread_tile) * thread_tile;

  float sum[thread_tile][thread_tile] = {};
  for (int k0 = 0; k0 < n; k0 += depth) {
    for (int i = 0; i < rows * depth; i += threads) {
      const int y = (i + tid) / depth, k = (i + tid) % depth;
      a_tile[y][k] = row0 + y < n && k0 + k < n ? a[(row0 + y) * n + k0 + k] : 0;
    }
    for (int i = 0; i < depth * cols; i += threads) {
      const int k = (i + tid) / cols, x = (i + tid) % cols;
      b_tile[k][x] = k0 + k < n && col0 + x < n ? b[(k0 + k) * n + col0 + x] : 0;
    }
    __syncthreads();  // every thread has fetched its part
    for (int k = 0; k < depth; ++k) {
      //> todo: read 8 floats of each tile and add their 64 products to the sums.
      float a_k[thread_tile], b_k[thread_tile];
      for (int i = 0; i < thread_tile; ++i) a_k[i] = a_tile[y0 + i][k];
      for (int j = 0; j < thread_tile; ++j) b_k[j] = b_tile[k][x0 + j];
      for (int i = 0; i < thread_tile; ++i) {
        for (int j = 0; j < thread_tile; ++j) sum[i][j] = fmaf(a_k[i], b_k[j], sum[i][j]);
      }
      //<
    }
    __syncthreads();  // every thread has used the tiles
  }

  for (int i = 0; i < thread_tile; ++i) {
    for (int j = 0; j < thread_tile; ++j) {
      const int row = row0 + y0 + i, col = col0 + x0 + j;
      if (row < n && col < n) c[row * n + col] = sum[i][j];
    }
  }
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, cols), ceil_div(n, rows));
  matmul_kernel<<<grid, threads>>>(a, b, c, n);
  check(cudaGetLastError());
}
