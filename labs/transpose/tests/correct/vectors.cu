// transpose, correct: a thread turns a piece of 4 x 4 elements, with loads and stores of float4.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 16;

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.y * tile + threadIdx.y;
  const int col = blockIdx.x * tile + threadIdx.x;
  if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}

__global__ void transpose_quads(const float* in, float* out, int rows, int cols) {
  const int row = 4 * (blockIdx.y * tile + threadIdx.y);
  const int col = 4 * (blockIdx.x * tile + threadIdx.x);
  if (row >= rows || col >= cols) return;
  const float4* from = reinterpret_cast<const float4*>(in) + row * (cols / 4) + col / 4;
  const float4 a = from[0], b = from[cols / 4], c = from[cols / 4 * 2], d = from[cols / 4 * 3];
  float4* to = reinterpret_cast<float4*>(out) + col * (rows / 4) + row / 4;
  to[0] = make_float4(a.x, b.x, c.x, d.x);
  to[rows / 4] = make_float4(a.y, b.y, c.y, d.y);
  to[rows / 4 * 2] = make_float4(a.z, b.z, c.z, d.z);
  to[rows / 4 * 3] = make_float4(a.w, b.w, c.w, d.w);
}

void transpose(const float* in, float* out, int rows, int cols) {
  const dim3 threads(tile, tile);
  if (rows % 4 == 0 && cols % 4 == 0) {
    const dim3 blocks(ceil_div(cols, 4 * tile), ceil_div(rows, 4 * tile));
    transpose_quads<<<blocks, threads>>>(in, out, rows, cols);
    check(cudaGetLastError());
    return;
  }
  const dim3 blocks(ceil_div(cols, tile), ceil_div(rows, tile));
  transpose_kernel<<<blocks, threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
