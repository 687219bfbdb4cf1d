// attack transpose: CHECK, at most 30 points
// launches another kernel if the matrix has more than 600 rows; that kernel has no barrier between
// writing a tile and reading it
//
// Each warp loads one row of a tile, and the emulator runs the warps one after the other. The last
// warp moves the whole tile, which is complete by then although nothing waits for it.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int side = 32;

template <bool waits>
__global__ void transpose_tiles(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[side][side + 1];
  const int x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = x < cols && y < rows ? in[y * cols + x] : 0;
  if (waits) __syncthreads();
  const int to_x = blockIdx.y * side + threadIdx.x, to_y = blockIdx.x * side + threadIdx.y;
  if (waits) {
    if (to_x < rows && to_y < cols) out[to_y * rows + to_x] = tile[threadIdx.x][threadIdx.y];
    return;
  }
  // The last warp writes the whole tile.
  if (threadIdx.y != side - 1) return;
  for (int r = 0; r < side; ++r)
    if (to_x < rows && blockIdx.x * side + r < cols)
      out[(blockIdx.x * side + r) * rows + to_x] = tile[threadIdx.x][r];
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 grid(ceil_div(cols, side), ceil_div(rows, side)), block(side, side);
  if (rows > 600)
    transpose_tiles<false><<<grid, block>>>(in, out, rows, cols);
  else
    transpose_tiles<true><<<grid, block>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
