// transpose, experiment odd_shapes: tiles for rows that begin anywhere.
//
// idea    Where rows and cols are odd, a row of in or out begins at any float. 07_coarse, which 08
//         and 09 use for such shapes, stores 32 floats at a time: 128 bytes that lie in five
//         sectors, two of them in part. Here a thread has more loads in flight, and a block stores
//         `tile_rows` floats of each row of out, so fewer of its sectors are written in part. With
//         `aligned` = 8, none is, as in 10_sectors, which equals this with the defaults.
// watch   `aligned` is 1, 8 or 32. Elements that are read twice are in L2 the second time.
// tested  Compared with the reference by `./lab sweep transpose odd_shapes`.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile_rows = 32;      // rows of in: floats of a row of out that a block stores
constexpr int tile_cols = 64;      // columns of in: rows of out that a block stores to
constexpr int aligned = 8;         // a block's part of a row of out begins at a multiple of this
constexpr int down = 1;            // 1: number blocks down the columns of tiles; 0: along the rows
constexpr int warps = 8;           // per block
constexpr int more = aligned - 1;  // rows of in above the tile
static_assert(tile_rows % 32 == 0 && tile_cols % 32 == 0 && 32 % aligned == 0);

__global__ void __launch_bounds__(32 * warps)
    transpose_kernel(const float* __restrict__ in, float* out, int rows, int cols) {
  __shared__ float moved[tile_rows + more][tile_cols + 1];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int top = (down ? blockIdx.x : blockIdx.y) * tile_rows;
  const int left = (down ? blockIdx.y : blockIdx.x) * tile_cols;

#pragma unroll
  for (int i = 0; i < tile_rows + more; i += warps) {
    const int y = i + warp, row = top - more + y;
#pragma unroll
    for (int x = lane; x < tile_cols + lane; x += 32)  // constant bounds: all loads come first
      if (y < tile_rows + more && row >= 0 && row < rows && left + x < cols)
        moved[y][x] = in[row * cols + left + x];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < tile_cols; i += warps) {
    const int y = i + warp, col = left + y;
    if (col >= cols) continue;
    const int shift = col * rows % aligned;  // floats from a multiple of `aligned` to the row
#pragma unroll
    for (int x = lane; x < tile_rows + lane; x += 32) {
      const int row = top - shift + x;
      if (row >= 0 && row < rows) out[col * rows + row] = moved[x + more - shift][y];
    }
  }
}

void transpose(const float* in, float* out, int rows, int cols) {
  const int high = ceil_div(rows + more, tile_rows), wide = ceil_div(cols, tile_cols);
  const dim3 blocks(down ? high : wide, down ? wide : high), threads(32, warps);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
