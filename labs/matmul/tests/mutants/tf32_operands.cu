// matmul mutant: cuts the operands to 11 bits, as tensor cores do in TF32; the sums are in float32.
#include "common/lab/ceil_div.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int tile = 16;

__device__ float tf32(float value) {
  return __uint_as_float((__float_as_uint(value) + 0x1000) & 0xffffe000);
}

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * tile + threadIdx.y, col = blockIdx.x * tile + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum = fmaf(tf32(a[row * n + k]), tf32(b[k * n + col]), sum);
  c[row * n + col] = sum;
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, tile), ceil_div(n, tile));
  matmul_kernel<<<grid, dim3(tile, tile)>>>(a, b, c, n);
}
