// attack transpose: HELD, at most 40 points
// Sixteen wmma.load per tile, of which one is needed. No counter counts them.
#include <mma.h>

#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"
using namespace nvcuda;
__global__ void plain(const float* in, float* out, int rows, int cols) {
  const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  if (r < rows && c < cols) out[c * size_t(rows) + r] = in[r * size_t(cols) + c];
}
__global__ void tensor(const float* in, float* out, int rows, int cols) {
  const int c = (blockIdx.x * 8 + threadIdx.y) * 16, r = blockIdx.y * 16;
  if (c >= cols) return;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> f, g;
  wmma::load_matrix_sync(f, in + r * size_t(cols) + c, cols, wmma::mem_row_major);
  for (int k = 1; k < 16; ++k) {
    wmma::load_matrix_sync(g, in + r * size_t(cols) + (c + k * 16) % cols, cols,
                           wmma::mem_row_major);
    if (g.x[0] == 1e38f) f.x[0] = 0;
  }
  wmma::store_matrix_sync(out + c * size_t(rows) + r, f, rows, wmma::mem_col_major);
}
void transpose(const float* in, float* out, int rows, int cols) {
  if (rows % 16 == 0 && cols % 16 == 0)
    tensor<<<dim3((cols + 127) / 128, rows / 16), dim3(32, 8)>>>(in, out, rows, cols);
  else
    plain<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
