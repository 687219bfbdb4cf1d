// transpose 03_element: one thread per element.
//
// idea    The elements are independent too, so each gets a thread, with one load and one store. x
//         runs along a row of in, so the 32 loads of a warp make one request for 128 consecutive
//         bytes: 4 sectors, all of them used.
// watch   The stores of the same warp are a row of out apart: 32 sectors for 128 bytes. The block's
//         other warps fill the rest of these sectors, but parts that no cache merges in time are
//         written separately. Large matrices therefore take longer than in 02_row, whose loads are
//         scattered. Partly read sectors wait in L1 for the next column, but stores do not wait.
// needs   nothing: threads beyond the edge do nothing.
// source  "GPU program optimisation (3): matrix transposition" (2016), "parallel per element".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;  // a block has a warp for each of 32 rows

// out[col][row] = in[row][col]
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y * tile + threadIdx.y;
  const int col = blockIdx.x * tile + threadIdx.x;
  //> todo: if there is an element at row, col, move it to where it belongs in out.
  if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
  //<
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  const dim3 threads(tile, tile);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
