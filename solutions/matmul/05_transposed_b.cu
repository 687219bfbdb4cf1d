// matmul 05_transposed_b: b's tile is transposed and padded: constant offsets in the loop.
//
// idea    Early CUDA compilers gave the loads of a_tile[ty][k] constant offsets, but computed an
//         address for every b_tile[k][tx]. Transposed, b_tile[tx][k] has k last as well. Without a
//         float of padding, the lanes would be a row of 32 floats apart, all in one bank.
// watch   There are 48 loads from shared memory for 64 multiply-adds, and no addition among them
//         (./lab ptx matmul 05).
// gain    None on current GPUs: nvcc unrolls the loop, and all loads of 04_two_rows have constant
//         offsets as well. Both loops have the same instructions.
// needs   Blocks of tile x tile / 2 threads, 512. Elements outside the matrices count as 0.
// source  Filipovic (2014), the version without the ADD instruction.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int tile = 32;        // a warp is one row of it; two tiles take 8 KB of shared memory
constexpr int half = tile / 2;  // rows of threads

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile + 1];  // transposed; padded: lane tx uses bank tx + k
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty;
  const int col = blockIdx.x * tile + tx;

  float sum0 = 0, sum1 = 0;  // in rows row and row + half
  for (int k0 = 0; k0 < n; k0 += tile) {
    for (int y0 = 0; y0 < tile; y0 += half) {
      const int y = y0 + ty, a_row = blockIdx.y * tile + y, b_row = k0 + y;
      a_tile[y][tx] = a_row < n && k0 + tx < n ? a[a_row * n + k0 + tx] : 0;
      //> todo: store b's tile transposed.
      b_tile[tx][y] = b_row < n && col < n ? b[b_row * n + col] : 0;
      //<
    }
    __syncthreads();  // every thread has fetched its part
    for (int k = 0; k < tile; ++k) {
      sum0 = fmaf(a_tile[ty][k], b_tile[tx][k], sum0);
      sum1 = fmaf(a_tile[ty + half][k], b_tile[tx][k], sum1);
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
