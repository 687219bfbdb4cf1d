// matmul 14_clamped_edges: no tests in the loop.
//
// idea    Rows of a and columns of b outside the matrices affect only elements of c that are never
//         stored. The last row or column can stand in for them, so a thread's address simply
//         advances. k must be exact. If n is not a multiple of depth, the first step starts before
//         k = 0: the elements missing there count as 0, and all other steps are complete.
// watch   Two blocks fill a multiprocessor, so half of it waits when one block is at its barrier.
// needs   As before: any n, faster if it is a multiple of 4.
// source  Measured for this course.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/clamped_access.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 128;       // of c per block
constexpr int depth = 8;        // columns of a, rows of b, between two barriers
constexpr int stages = 3;       // pairs of tiles in shared memory
constexpr int thread_tile = 8;  // rows and columns of c per thread
constexpr int threads = (rows / thread_tile) * (cols / thread_tile);
constexpr int lanes_y = 8, lanes_x = 4;                // a warp computes 64 x 32 elements of c
constexpr int warps_x = cols / lanes_x / thread_tile;  // side by side in a block

// Quads: n is a multiple of 4.
template <bool Quads>
__global__ void __launch_bounds__(threads, 2)  // 2 blocks at once: 128 registers per thread
    matmul_kernel(const float* a, const float* b, float* c, int n) {
  alignas(16) __shared__ float a_tile[stages][depth][rows + 4];  // transposed and padded
  alignas(16) __shared__ float b_tile[stages][depth][cols];
  const int tid = threadIdx.x;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int warp = tid / 32, lane = tid % 32;
  const int lane_y = lane / 8 * 2 + lane / 2 % 2;
  const int lane_x = lane / 4 % 2 * 2 + lane % 2;
  const int y0 = warp / warps_x * lanes_y * thread_tile + 4 * lane_y;
  const int x0 = warp % warps_x * lanes_x * thread_tile + 4 * lane_x;

  // A thread's part of each pair of tiles: four floats of a, and four of b. The sizes are chosen so
  // that every thread has one piece of each tile.
  const int a_row = 4 * tid / depth, a_col = 4 * tid % depth;
  const int b_row = 4 * tid / cols, b_col = 4 * tid % cols;
  const int steps = (n + depth - 1) / depth, missing = steps * depth - n;  // before k = 0
  const int row = min(row0 + a_row, n - 1), col = Quads ? min(col0 + b_col, n - 4) : col0 + b_col;
  const float *a_from = a + row * n + a_col - missing, *b_from = b + (b_row - missing) * n + col;
  float4 a4;
  const auto fetch = [&](int stage, bool is_first) {
    //> todo: fetch from the current addresses. Elements before k = 0 count as 0.
    a4 = load4<Quads>(a_from, is_first ? missing - a_col : 0);
    copy4<Quads>(&b_tile[stage][b_row][b_col], b_from, n - 1 - col, !is_first || b_row >= missing);
    //<
    a_from += depth;
    b_from += depth * n;
  };
  const auto store = [&](int stage) {
    const float of_row[] = {a4.x, a4.y, a4.z, a4.w};
    for (int k = 0; k < 4; ++k) a_tile[stage][a_col + k][a_row] = of_row[k];
  };

  float sum[thread_tile][thread_tile] = {};
  int now = 0, next_stage = stages - 1;                        // the stages to read and to fill
  alignas(16) float a_k[2][thread_tile], b_k[2][thread_tile];  // even k, odd k
  const auto read = [&](int k) {
    for (int i = 0; i < thread_tile; i += 4)
      as_float4(a_k[k % 2][i]) = as_float4(a_tile[now][k % depth][y0 + i * lanes_y]);
    for (int j = 0; j < thread_tile; j += 4)
      as_float4(b_k[k % 2][j]) = as_float4(b_tile[now][k % depth][x0 + j * lanes_x]);
  };
  for (int stage = 0; stage < stages - 1; ++stage) {
    if (stage < steps) {
      fetch(stage, stage == 0);
      store(stage);
    }
    __pipeline_commit();
  }
  __pipeline_wait_prior(stages - 2);  // waits for this thread's copies to all stages but the last
  __syncthreads();                    // the first tiles are there
  read(0);
  for (int step = 0; step < steps; ++step) {
    if (step + stages - 1 < steps) fetch(next_stage, false);
    __pipeline_commit();
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (k == depth - 1) {
        if (step + stages - 1 < steps) store(next_stage);
        next_stage = now;
        if (step < steps - 1) now = (now + 1) % stages;  // no stage follows the last one
        __pipeline_wait_prior(stages - 2);
        __syncthreads();  // all can read the next tiles, and all are done with the present ones
      }
      read(k + 1);
      for (int j = 0; j < thread_tile; ++j) {
        for (int nth = 0; nth < thread_tile; ++nth) {
          const int i = j % 2 == 0 ? nth : thread_tile - 1 - nth;
          sum[i][j] = fmaf(a_k[k % 2][i], b_k[k % 2][j], sum[i][j]);
        }
      }
    }
  }

  for (int i = 0; i < thread_tile; ++i) {
    for (int j = 0; j < thread_tile; ++j) {
      const int row = row0 + y0 + i / 4 * 4 * lanes_y + i % 4;
      const int col = col0 + x0 + j / 4 * 4 * lanes_x + j % 4;
      if (row < n && col < n) c[row * n + col] = sum[i][j];
    }
  }
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, cols), ceil_div(n, rows));
  const auto kernel = n % 4 == 0 ? matmul_kernel<true> : matmul_kernel<false>;
  kernel<<<grid, threads>>>(a, b, c, n);
  check(cudaGetLastError());
}
