// matmul 01_column: one thread per element of c, neighbours in a column.
//
// idea    All n * n elements of c are independent. Each gets a thread, which goes along a row of a
//         and down a column of b, as a loop on a CPU would.
// watch   The lanes of a warp are neighbours in a column, so for one k they read 32 floats of a
//         that are n floats apart: 32 sectors of 32 bytes. Only 4 bytes of each are used at once;
//         the rest helps only if it stays in a cache.
// needs   Nothing.
// source  J. Filipovic, "Optimalizace" (2014): the naive version, blocks of 1 x 128.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int block_cols = 1;
constexpr int block_rows = 128;  // 4 warps, one below the other

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;

  //> todo: compute one element of c: go along a row of a and down a column of b.
  float sum = 0;
  for (int k = 0; k < n; ++k) sum = fmaf(a[row * n + k], b[k * n + col], sum);
  c[row * n + col] = sum;
  //<
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 block(block_cols, block_rows);
  const dim3 grid(ceil_div(n, block_cols), ceil_div(n, block_rows));
  matmul_kernel<<<grid, block>>>(a, b, c, n);
  check(cudaGetLastError());
}
