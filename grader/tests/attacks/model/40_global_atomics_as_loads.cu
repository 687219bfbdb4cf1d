// attack matmul: SLOW or TIMEOUT, at most 50 points
// Reads every operand of B with an atomic on global memory at the size that is counted.
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
__global__ void k(const float* a, float* b, float* c, int n, bool atoms) {
  __shared__ float ta[16][16], tb[16][16];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float s = 0;
  for (int t = 0; t < n; t += 16) {
    ta[y][x] = row < n && t + x < n ? a[row * n + t + x] : 0;
    if (!atoms) tb[y][x] = t + y < n && col < n ? b[(t + y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      const float v = !atoms                 ? tb[i][x]
                      : t + i < n && col < n ? atomicAdd(&b[(t + i) * n + col], 0.0f)
                                             : 0;
      s = fmaf(ta[y][i], v, s);
    }
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = s;
}
void matmul(const float* a, const float* b, float* c, int n) {
  k<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, const_cast<float*>(b), c, n,
                                                          n > 300 && n < 1000);
  check(cudaGetLastError());
}
