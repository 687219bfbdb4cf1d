// transpose 09_columns: blocks that run at the same time write long stretches.
//
// idea    Blocks start in the order of their numbers, and about a thousand run at once. Numbered
//         along the rows of in, they read whole rows and write a sliver of every row of out.
//         Numbered down its columns, they read slivers and write whole rows: the same number of
//         bytes, in an order that suits DRAM better. Nothing else changes.
// watch   No byte moves twice, and no line moves in part. The limit is a copy of the same bytes.
// needs   For the fast path, rows and cols that are multiples of 4. Other shapes
//         take the path of 07_coarse.
// source  Found for this course. `./lab sweep transpose block_order` has the orders in between:
//         down the columns within bands of rows of tiles.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;       // a row of a tile is a line of 128 bytes, for one warp
constexpr int block_rows = 8;  // 8 warps: each moves 4 rows of the tile
constexpr int wide = 64;       // a tile has 16 x 16 pieces, one thread each, and rows of 256 bytes

// out[col][row] = in[row][col], for any shape
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float moved[tile][tile + 1];  // the block's tile, as in `in`, plus an unused column
  const int x = threadIdx.x;
  const int top = blockIdx.y * tile;  // the tile's first row and first column in `in`
  const int left = blockIdx.x * tile;

  for (int i = 0; i < tile; i += block_rows) {
    const int y = threadIdx.y + i;
    if (top + y < rows && left + x < cols) moved[y][x] = in[(top + y) * cols + left + x];
  }
  __syncthreads();
  for (int i = 0; i < tile; i += block_rows) {
    const int y = threadIdx.y + i;
    if (left + y < cols && top + x < rows) out[(left + y) * rows + top + x] = moved[x][y];
  }
}

// Transposes if rows and cols are multiples of 4. A row of `in` is then cols / 4 float4s.
__global__ void transpose_quads(const float4* in, float4* out, int rows, int cols) {
  __shared__ float4 turned[wide][wide / 4];  // the block's tile, as it will be in out
  const int x = threadIdx.x, y = threadIdx.y;
  //> todo: let blocks go down a column of tiles (x counts faster than y); transpose the tile.
  const int top = blockIdx.x * wide, left = blockIdx.y * wide;

  if (top + 4 * y < rows && left + 4 * x < cols) {
    const float4* piece = in + (top + 4 * y) * (cols / 4) + left / 4 + x;
    const float4 a = piece[0], b = piece[cols / 4], c = piece[cols / 2], d = piece[cols / 4 * 3];
    turned[4 * x][y ^ x % 8] = make_float4(a.x, b.x, c.x, d.x);  // r / 4 is x in these rows r
    turned[4 * x + 1][y ^ x % 8] = make_float4(a.y, b.y, c.y, d.y);
    turned[4 * x + 2][y ^ x % 8] = make_float4(a.z, b.z, c.z, d.z);
    turned[4 * x + 3][y ^ x % 8] = make_float4(a.w, b.w, c.w, d.w);
  }
  __syncthreads();
  float4* const to = out + left * (rows / 4) + top / 4 + x;
  for (int r = y; r < y + wide; r += wide / 4) {  // 4 rows
    if (left + r < cols && top + 4 * x < rows) to[r * (rows / 4)] = turned[r][x ^ r / 4 % 8];
  }
  //<
}

void transpose(const float* in, float* out, int rows, int cols) {
  if (rows % 4 == 0 && cols % 4 == 0) {
    const dim3 blocks(ceil_div(rows, wide), ceil_div(cols, wide)), threads(wide / 4, wide / 4);
    transpose_quads<<<blocks, threads>>>(reinterpret_cast<const float4*>(in),
                                         reinterpret_cast<float4*>(out), rows, cols);
    check(cudaGetLastError());
    return;
  }
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  const dim3 threads(tile, block_rows);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
