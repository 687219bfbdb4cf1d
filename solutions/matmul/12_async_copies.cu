// matmul 12_async_copies: b's tiles go to shared memory without passing through registers.
//
// idea    cp.async copies from global to shared memory while the thread does other work; the thread
//         waits for its copies in groups. A copy needs no register to wait in, so it can be issued
//         two steps ahead. Of three pairs of buffers, one is being multiplied, one has arrived, and
//         one is in flight. a still passes through registers, where it is transposed.
// watch   The 64 multiply-adds of one k go row by row, but any order would be correct.
// needs   As before: any n, faster if it is a multiple of 4.
// source  CUDA C++ Programming Guide, "Asynchronous Data Copies" (cp.async, pipelines).
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/async_copy.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 128;       // of c per block
constexpr int depth = 8;        // columns of a, rows of b, between two barriers
constexpr int stages = 3;       // pairs of tiles in shared memory
constexpr int thread_tile = 8;  // rows and columns of c per thread
constexpr int threads = (rows / thread_tile) * (cols / thread_tile);
constexpr int lanes_y = 8, lanes_x = 4;                // a warp computes 64 x 32 elements of c
constexpr int warps_x = cols / lanes_x / thread_tile;  // side by side in a block

// Four floats, the first of which lies at a multiple of 16 bytes.
__device__ float4& as_float4(float& first) { return reinterpret_cast<float4&>(first); }

// m[row][col], ..., m[row][col + 3]; 0 outside the matrix. col is a multiple of 4.
__device__ float4 load4(const float* m, int row, int col, int n) {
  if (row >= n || col >= n) return {0, 0, 0, 0};
  const float* first = m + row * n + col;
  if (n % 4 == 0) return *reinterpret_cast<const float4*>(first);
  return {first[0], col + 1 < n ? first[1] : 0, col + 2 < n ? first[2] : 0,
          col + 3 < n ? first[3] : 0};
}

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
  float4 a4;
  const auto fetch = [&](int k0, int stage) {
    a4 = load4(a, row0 + a_row, k0 + a_col, n);
    //> todo: copy this thread's part of b's tile, without a register in between.
    copy4(&b_tile[stage][b_row][b_col], b, k0 + b_row, col0 + b_col, n);
    //<
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
    fetch(stage * depth, stage);
    __pipeline_commit();
    store(stage);
  }
  __pipeline_wait_prior(stages - 2);  // waits for this thread's copies to all stages but the last
  __syncthreads();                    // the first tiles are there
  read(0);
  for (int k0 = 0; k0 < n; k0 += depth) {
    fetch(k0 + (stages - 1) * depth, next_stage);
    __pipeline_commit();
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (k == depth - 1) {
        store(next_stage);
        next_stage = now;
        now = (now + 1) % stages;
        __pipeline_wait_prior(stages - 2);
        __syncthreads();  // all can read the next tiles, and all are done with the present ones
      }
      read(k + 1);
      for (int i = 0; i < thread_tile; ++i) {
        for (int j = 0; j < thread_tile; ++j)
          sum[i][j] = fmaf(a_k[k % 2][i], b_k[k % 2][j], sum[i][j]);
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
  matmul_kernel<<<grid, threads>>>(a, b, c, n);
  check(cudaGetLastError());
}
