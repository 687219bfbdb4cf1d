// transpose mutant: loads four floats at once from any row, but rows of in are aligned to 16 bytes
// only if cols is a multiple of 4.
#include "common/lab/ceil_div.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y * tile + threadIdx.y;
  const int col = blockIdx.x * tile + threadIdx.x;
  if (row >= rows || 4 * col >= cols) return;
  if (4 * col + 3 < cols) {
    const float4 piece = *reinterpret_cast<const float4*>(in + row * cols + 4 * col);
    out[4 * col * rows + row] = piece.x;
    out[(4 * col + 1) * rows + row] = piece.y;
    out[(4 * col + 2) * rows + row] = piece.z;
    out[(4 * col + 3) * rows + row] = piece.w;
    return;
  }
  for (int c = 4 * col; c < cols; ++c) out[c * rows + row] = in[row * cols + c];
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  transpose_kernel<<<blocks, dim3(tile, tile)>>>(in, out, rows, cols);
}
