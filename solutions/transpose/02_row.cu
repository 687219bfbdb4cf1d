// transpose 02_row: one thread per row.
//
// idea    The rows are independent: each gets a thread, which walks along the row. At any time the
//         lanes of a warp are in the same column of 32 rows, so their writes are adjacent.
// watch   Their reads are not adjacent: 32 lanes read 32 places, a row apart, and each place costs
//         a sector of 32 bytes. Reads of the next 7 columns hit these sectors in the cache, if the
//         sectors are still there. Also, there are only as many threads as rows.
// needs   nothing.
// source  "GPU program optimisation (3): matrix transposition" (2016), "parallel per row".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int block_size = 64;  // small, so that the few threads spread over many multiprocessors

// out[col][row] = in[row][col]
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  //> todo: if row `row` exists, move its elements to where they belong in out.
  if (row < rows) {
    for (int col = 0; col < cols; ++col) {
      out[col * rows + row] = in[row * cols + col];
    }
  }
  //<
}

void transpose(const float* in, float* out, int rows, int cols) {
  const int blocks = ceil_div(rows, block_size);
  const int threads = block_size;
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
