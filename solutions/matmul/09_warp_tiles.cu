// matmul 09_warp_tiles: the threads of a warp own a compact rectangle of c.
//
// idea    A warp computes 64 x 32 elements instead of 16 x 128: it needs 96 floats per k instead of
//         144, and its lanes read them side by side. Loads of 16 bytes are served 8 lanes at a
//         time, or 16 if lanes l and l ^ 1, or l and l ^ 2, read the same bytes. In squares of
//         2 x 2 lanes, the first holds for a, the second for b, so every load takes 2 wavefronts.
// watch   Between two barriers, all warps fetch, then all multiply. Neither phase hides the other.
// needs   As before: any n, faster if it is a multiple of 4.
// source  NVIDIA, "CUTLASS: Fast Linear Algebra in CUDA C++" (2017); S. Boehm, SGEMM_CUDA (2022),
//         kernel 10. The rule for 16 bytes is measured, not documented.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 128;       // of c per block
constexpr int depth = 8;        // columns of a, rows of b, between two barriers
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

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  alignas(16) __shared__ float a_tile[depth][rows + 4];  // transposed and padded
  alignas(16) __shared__ float b_tile[depth][cols];
  const int tid = threadIdx.x;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int warp = tid / 32, lane = tid % 32;
  //> todo: find the thread's first element: lanes 0 to 3 form a square, two squares a row of 4.
  const int lane_y = lane / 8 * 2 + lane / 2 % 2;
  const int lane_x = lane / 4 % 2 * 2 + lane % 2;
  const int y0 = warp / warps_x * lanes_y * thread_tile + 4 * lane_y;
  const int x0 = warp % warps_x * lanes_x * thread_tile + 4 * lane_x;
  //<

  float sum[thread_tile][thread_tile] = {};
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
    for (int k = 0; k < depth; ++k) {
      //> todo: read two times four floats of each tile, and add the products of all.
      alignas(16) float a_k[thread_tile], b_k[thread_tile];
      for (int i = 0; i < thread_tile; i += 4)
        as_float4(a_k[i]) = as_float4(a_tile[k][y0 + i * lanes_y]);
      for (int j = 0; j < thread_tile; j += 4)
        as_float4(b_k[j]) = as_float4(b_tile[k][x0 + j * lanes_x]);
      for (int i = 0; i < thread_tile; ++i) {
        for (int j = 0; j < thread_tile; ++j) sum[i][j] = fmaf(a_k[i], b_k[j], sum[i][j]);
      }
      //<
    }
    __syncthreads();  // every thread has used the tiles
  }

  //> todo: store the sums: the second four rows are 4 * lanes_y below the first; likewise columns.
  for (int i = 0; i < thread_tile; ++i) {
    for (int j = 0; j < thread_tile; ++j) {
      const int row = row0 + y0 + i / 4 * 4 * lanes_y + i % 4;
      const int col = col0 + x0 + j / 4 * 4 * lanes_x + j % 4;
      if (row < n && col < n) c[row * n + col] = sum[i][j];
    }
  }
  //<
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, cols), ceil_div(n, rows));
  matmul_kernel<<<grid, threads>>>(a, b, c, n);
  check(cudaGetLastError());
}
