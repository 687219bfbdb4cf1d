// transpose 10_sectors: in any shape, a block's part of a row begins at a sector.
//
// idea    If rows is not a multiple of 8, rows of out begin within a sector of 32 bytes. The 32
//         floats that a warp stores then lie in five sectors, two of which are shared by two blocks
//         and written in parts. Here, a block's part of each row begins up to 7 floats earlier, at
//         a sector's start, and ends at a sector's end. A block also reads 7 rows above its tile.
// watch   Each sector of out is written once, as a whole. A block reads more than before, but rows
//         that two blocks read come from DRAM once, because the blocks run at the same time.
// needs   nothing. Multiples of 8 take the path of 09_columns: all their rows begin at sectors.
// source  Found for this course. `./lab sweep transpose odd_shapes` has other tiles.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;       // a row of a tile is a line of 128 bytes, for one warp
constexpr int block_rows = 8;  // 8 warps: each moves 4 rows of the tile
constexpr int wide = 64;       // a tile has 16 x 16 pieces, one thread each, and rows of 256 bytes
constexpr int sector = 8;      // floats: the least that memory and the caches move

// out[col][row] = in[row][col], for any shape
__global__ void transpose_kernel(const float* __restrict__ in, float* out, int rows, int cols) {
  __shared__ float moved[sector - 1 + tile][wide + 1];  // starts 7 rows above the tile
  const int x = threadIdx.x;
  const int top = blockIdx.x * tile, left = blockIdx.y * wide;

  for (int i = 0; i < sector - 1 + tile; i += block_rows) {
    const int y = threadIdx.y + i, row = top - (sector - 1) + y;
    for (int j = x; j < wide + x; j += tile)  // constant bounds: all loads before the first store
      if (y < sector - 1 + tile && row >= 0 && row < rows && left + j < cols)
        moved[y][j] = in[row * cols + left + j];
  }
  __syncthreads();
  for (int i = 0; i < wide; i += block_rows) {
    const int y = threadIdx.y + i, col = left + y;
    if (col >= cols) continue;
    //> todo: begin the block's part of row col of out above top, where the last sector begins.
    const int shift = col * rows % sector;  // top is a multiple of `sector`
    const int row = top - shift + x;
    if (row >= 0 && row < rows) out[col * rows + row] = moved[sector - 1 - shift + x][y];
    //<
  }
}

// Transposes if rows and cols are multiples of 8. A row of `in` is then cols / 4 float4s.
__global__ void transpose_quads(const float4* in, float4* out, int rows, int cols) {
  __shared__ float4 turned[wide][wide / 4];  // the block's tile, as it will be in out
  const int x = threadIdx.x, y = threadIdx.y;
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
}

void transpose(const float* in, float* out, int rows, int cols) {
  if (rows % sector == 0 && cols % sector == 0) {
    const dim3 blocks(ceil_div(rows, wide), ceil_div(cols, wide)), threads(wide / 4, wide / 4);
    transpose_quads<<<blocks, threads>>>(reinterpret_cast<const float4*>(in),
                                         reinterpret_cast<float4*>(out), rows, cols);
    check(cudaGetLastError());
    return;
  }
  const dim3 blocks(ceil_div(rows + sector - 1, tile), ceil_div(cols, wide));
  const dim3 threads(tile, block_rows);
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
