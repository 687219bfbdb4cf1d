// matmul 04_two_rows: every thread computes two elements of its column.
//
// idea    The tiles are the same, with half as many threads. A thread's two elements lie 16 rows
//         apart in one column, so they share the operand from b. Two multiply-adds take three
//         floats from shared memory instead of four, and the two sums need not wait for each other.
// watch   Three floats for two multiply-adds is still more than one load per multiply-add. And what
//         does address arithmetic cost? See the PTX of the loop (./lab ptx matmul 04).
// needs   Blocks of tile x tile / 2 threads, 512. Elements outside the matrices count as 0.
// source  Filipovic (2014), blocks of 32 x 16 on data of 32 x 32; V. Volkov, "Better Performance at
//         Lower Occupancy" (2010).
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int tile = 32;        // a warp is one row of it; two tiles take 8 KB of shared memory
constexpr int half = tile / 2;  // rows of threads

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty;
  const int col = blockIdx.x * tile + tx;

  float sum0 = 0, sum1 = 0;  // in rows row and row + half
  for (int k0 = 0; k0 < n; k0 += tile) {
    for (int y0 = 0; y0 < tile; y0 += half) {
      const int y = y0 + ty, a_row = blockIdx.y * tile + y, b_row = k0 + y;
      a_tile[y][tx] = a_row < n && k0 + tx < n ? a[a_row * n + k0 + tx] : 0;
      b_tile[y][tx] = b_row < n && col < n ? b[b_row * n + col] : 0;
    }
    __syncthreads();  // every thread has fetched its part
    for (int k = 0; k < tile; ++k) {
      //> todo: add to both of the thread's elements.
      sum0 = fmaf(a_tile[ty][k], b_tile[k][tx], sum0);
      sum1 = fmaf(a_tile[ty + half][k], b_tile[k][tx], sum1);
      //<
    }
    __syncthreads();  // every thread has used the tiles
  }

  if (row < n && col < n) c[row * n + col] = sum0;
  if (row + half < n && col < n) c[(row + half) * n + col] = sum1;
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 block(tile, half);
  const dim3 grid(ceil_div(n, tile), ceil_div(n, tile));
  matmul_kernel<<<grid, block>>>(a, b, c, n);
  check(cudaGetLastError());
}
