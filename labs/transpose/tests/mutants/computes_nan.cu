// transpose mutant: sums what it should move, starting from infinity minus infinity: NaN, which a
// comparison by "the difference is not too large" would let pass.
#include "common/lab/ceil_div.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y * tile + threadIdx.y;
  const int col = blockIdx.x * tile + threadIdx.x;
  const float infinity = 1.0f / (float)(rows - rows);
  if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col] + infinity - infinity;
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  transpose_kernel<<<blocks, dim3(tile, tile)>>>(in, out, rows, cols);
}
