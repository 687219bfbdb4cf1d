// matmul 02_row: neighbouring threads compute neighbouring elements of a row.
//
// idea    The kernel is the same; its block lies on its side. Now the lanes of a warp read the same
//         float of a, and 32 neighbouring floats of a row of b: 4 sectors, every byte used.
// watch   Each multiply-add takes two loads. Every float of a and b is requested n times, and
//         caches must deliver 8 bytes for every 2 operations.
// needs   Nothing.
// source  J. Filipovic, "Optimalizace" (2014): the naive version, blocks of 128 x 1.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

//> todo: set block_cols and block_rows for a block whose warps lie along a row of c.
constexpr int block_cols = 128;  // 4 warps, side by side
constexpr int block_rows = 1;
//<

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;

  float sum = 0;
  for (int k = 0; k < n; ++k) sum = fmaf(a[row * n + k], b[k * n + col], sum);
  c[row * n + col] = sum;
}

void matmul(const float* a, const float* b, float* c, int n) {
  //> todo: launch enough blocks of that shape.
  const dim3 block(block_cols, block_rows);
  const dim3 grid(ceil_div(n, block_cols), ceil_div(n, block_rows));
  matmul_kernel<<<grid, block>>>(a, b, c, n);
  check(cudaGetLastError());
  //<
}
