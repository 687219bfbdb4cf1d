// transpose 08_vectors: pieces of 4 x 4 floats: loads and stores of 16 bytes.
//
// idea    A thread loads a float4 from each of 4 rows, transposes the piece in its registers, and
//         stores it to shared memory as 4 rows of out. It has 64 bytes in flight, and a quarter of
//         the instructions. A float4 fills 4 banks, so 8 lanes fill all 32 and are served together.
//         Column c of row r is kept at c ^ (r / 4 % 8), so neither writes nor reads conflict.
// watch   Enough bytes are in flight. Blocks that run at the same time read long stretches of few
//         rows, but write short stretches of very many rows.
// needs   For the fast path, rows and cols that are multiples of 4, because every row of in and of
//         out must begin at a multiple of 16 bytes. Other shapes take the path of 07_coarse.
// source  CUDA C++ Programming Guide, "Device Memory Accesses"; CUTLASS, for the swizzle.
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
  const int top = blockIdx.y * wide, left = blockIdx.x * wide;

  //> todo: load a 4x4 piece, transpose it, keep it in turned; wait; write rows of turned to out.
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
    const dim3 blocks(ceil_div(cols, wide), ceil_div(rows, wide)), threads(wide / 4, wide / 4);
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
