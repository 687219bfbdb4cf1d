// matmul 06_rank1: each thread keeps a column of c in registers; only a is in shared memory.
//
// idea    A column of a times a row of b, n x n products, is a matrix of rank 1, and c is the sum
//         of n such matrices. A thread loads its element of b's row k once, into a register, and
//         uses it for 16 rows of c. All threads read the same column of a: a broadcast.
// watch   One operand of every multiply-add still comes from shared memory. A load brings four such
//         operands, because they are adjacent, yet it takes two wavefronts.
// needs   Elements outside the matrices count as 0.
// source  V. Volkov, J. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra" (2008); Filipovic
//         (2014), the version with one block in shared memory.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int cols = 128;  // of c per block
constexpr int rows = 16;   // of c per block
constexpr int depth = 16;  // columns of a, rows of b, between two barriers
constexpr int threads = cols;

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[depth][rows + 4];  // transposed, and padded: fewer bank conflicts
  const int tid = threadIdx.x;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int col = col0 + tid;  // this thread's column of b and of c

  float sum[rows] = {};
  for (int k0 = 0; k0 < n; k0 += depth) {
    for (int i = 0; i < rows * depth; i += threads) {
      const int y = (i + tid) / depth, k = (i + tid) % depth;
      a_tile[k][y] = row0 + y < n && k0 + k < n ? a[(row0 + y) * n + k0 + k] : 0;
    }
    __syncthreads();  // every thread has fetched its part

    // Unrolled, so that 16 loads of b can be in flight at once.
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      //> todo: fetch this thread's element of b's row k0 + k and add its products to all sums.
      const float b_k = k0 + k < n && col < n ? b[(k0 + k) * n + col] : 0;
      for (int y = 0; y < rows; ++y) sum[y] = fmaf(a_tile[k][y], b_k, sum[y]);
      //<
    }
    __syncthreads();  // every thread has used the tiles
  }

  for (int y = 0; y < rows; ++y) {
    if (row0 + y < n && col < n) c[(row0 + y) * n + col] = sum[y];
  }
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, cols), ceil_div(n, rows));
  matmul_kernel<<<grid, threads>>>(a, b, c, n);
  check(cudaGetLastError());
}
