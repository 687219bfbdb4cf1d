// transpose, a beginner's mistake: float4 is used although rows or cols may not be a multiple of 4.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;
constexpr int step = 8;

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float buf[tile][tile + 1];
  const int row0 = blockIdx.y * tile;
  const int col0 = blockIdx.x * tile;
  const int col = col0 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < tile; k += step) {
    const int j = threadIdx.y + k;
    if (row0 + j < rows && col < cols) buf[j][threadIdx.x] = in[(row0 + j) * cols + col];
  }
  __syncthreads();
  const int ocol = row0 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < tile; k += step) {
    const int j = threadIdx.y + k;
    if (col0 + j < cols && ocol < rows) out[(col0 + j) * rows + ocol] = buf[threadIdx.x][j];
  }
}

// A thread moves 4 x 4 floats. It loads four float4s, transposes them in registers, and passes them
// through a tile of float4s.
constexpr int pieces = 16;  // groups of 4 floats per side of a tile of 64
__global__ void transpose4(const float4* in, float4* out, int rows4, int cols4) {
  __shared__ float4 buf[4][pieces][pieces + 1];
  const int r = blockIdx.x * pieces + threadIdx.y;
  const int c = blockIdx.y * pieces + threadIdx.x;
  if (r < rows4 && c < cols4) {
    float4 a = in[(4 * r + 0) * cols4 + c];
    float4 b = in[(4 * r + 1) * cols4 + c];
    float4 d = in[(4 * r + 2) * cols4 + c];
    float4 e = in[(4 * r + 3) * cols4 + c];
    buf[0][threadIdx.y][threadIdx.x] = make_float4(a.x, b.x, d.x, e.x);
    buf[1][threadIdx.y][threadIdx.x] = make_float4(a.y, b.y, d.y, e.y);
    buf[2][threadIdx.y][threadIdx.x] = make_float4(a.z, b.z, d.z, e.z);
    buf[3][threadIdx.y][threadIdx.x] = make_float4(a.w, b.w, d.w, e.w);
  }
  __syncthreads();
  const int orow = blockIdx.y * pieces + threadIdx.y;
  const int ocol = blockIdx.x * pieces + threadIdx.x;
  if (orow < cols4 && ocol < rows4) {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      out[(4 * orow + k) * rows4 + ocol] = buf[k][threadIdx.x][threadIdx.y];
  }
}

void transpose(const float* in, float* out, int rows, int cols) {
  if (cols / 64 < 65535) {
    const dim3 blocks(ceil_div(rows / 4, pieces), ceil_div(cols / 4, pieces));
    const dim3 threads(pieces, pieces);
    transpose4<<<blocks, threads>>>(reinterpret_cast<const float4*>(in),
                                    reinterpret_cast<float4*>(out), rows / 4, cols / 4);
  } else {
    const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
    const dim3 threads(tile, step);
    transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  }
  check(cudaGetLastError());
}
