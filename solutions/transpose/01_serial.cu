// transpose 01_serial: one thread moves every element.
//
// idea    The two loops of a C program, in a kernel. They define the correct result, and the source
//         of this lab begins with them.
// watch   One lane of one warp works, on one multiprocessor. It has a few loads in flight at any
//         time, but device memory could serve tens of thousands. The thread moves millions of
//         elements alone, so expect to wait.
// needs   nothing.
// source  "GPU program optimisation (3): matrix transposition" (2016), version "serial".
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

// A kernel like any other, but with a single thread, so it needs no index to find its part.
// out[col][row] = in[row][col]
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  for (int row = 0; row < rows; ++row) {
    //> todo: move the elements of this row to where they belong in out.
    for (int col = 0; col < cols; ++col) {
      out[col * rows + row] = in[row * cols + col];
    }
    //<
  }
}

void transpose(const float* in, float* out, int rows, int cols) {
  const int blocks = 1;
  const int threads = 1;
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
