// attack matmul: SLOW or HELD, at most 46 points
// In a grid with many waves, the blocks of the multiprocessor in the middle do nothing, and their
// neighbours do their work. The time model used to look only at the middle multiprocessor.
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
__device__ void tile(const float* a, const float* b, float* c, int n, int t) {
  const int w = (n + 31) / 32, row = t / w * 8 + threadIdx.y, col = t % w * 32 + threadIdx.x;
  if (row >= n || col >= n) return;
  float s = 0;
  for (int i = 0; i < n; ++i) s = fmaf(a[row * n + i], b[i * n + col], s);
  c[row * n + col] = s;
}
__global__ void k(const float* a, const float* b, float* c, int n) {
  const int tiles = (n + 31) / 32 * ((n + 7) / 8), t = blockIdx.x, at = t % 132;
  const int middle = tiles % 132 == 0 ? 66 : tiles % 132 / 2;
  if (at == middle && t > 0) return;
  tile(a, b, c, n, t);
  if (at + 1 == middle && t + 1 < tiles) tile(a, b, c, n, t + 1);
}
void matmul(const float* a, const float* b, float* c, int n) {
  k<<<(n + 31) / 32 * ((n + 7) / 8), dim3(32, 8)>>>(a, b, c, n);
  check(cudaGetLastError());
}
