// matmul, correct: a register tile per thread; two buffers in shared memory.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int rows = 128, cols = 128, depth = 8, threads = 256;
constexpr int pitch = rows + 4;

__global__ void __launch_bounds__(threads)
    matmul_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float a_tile[2][depth][pitch];
  __shared__ __align__(16) float b_tile[2][depth][cols];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int wr = warp / 2 * 32, wc = warp % 2 * 64;  // 4 x 2 warps of 32 x 64
  const int r0 = wr + lane / 8 * 4,
            c0 = wc + lane % 8 * 4;  // rows r0.., r0+16..; cols c0.., c0+32..

  float fa[4], fb[4];
  auto fetch = [&](int k0) {
    for (int i = 0; i < 4; ++i) {
      const int ar = row0 + t / 8 + i * 32, ak = k0 + t % 8;
      fa[i] = ar < n && ak < n ? a[ar * n + ak] : 0.0f;
      const int bk = k0 + t / 128 + i * 2, bc = col0 + t % 128;
      fb[i] = bk < n && bc < n ? b[bk * n + bc] : 0.0f;
    }
  };
  auto store = [&](int buffer) {
    for (int i = 0; i < 4; ++i) {
      a_tile[buffer][t % 8][t / 8 + i * 32] = fa[i];
      b_tile[buffer][t / 128 + i * 2][t % 128] = fb[i];
    }
  };

  float sum[8][8] = {};
  fetch(0);
  store(0);
  __syncthreads();
  int now = 0;
  for (int k0 = 0; k0 < n; k0 += depth) {
    const bool more = k0 + depth < n;
    if (more) fetch(k0 + depth);
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      float x[8], y[8];
      for (int h = 0; h < 2; ++h) {
        const float4 p = *reinterpret_cast<const float4*>(&a_tile[now][k][r0 + h * 16]);
        const float4 q = *reinterpret_cast<const float4*>(&b_tile[now][k][c0 + h * 32]);
        x[h * 4] = p.x;
        x[h * 4 + 1] = p.y;
        x[h * 4 + 2] = p.z;
        x[h * 4 + 3] = p.w;
        y[h * 4] = q.x;
        y[h * 4 + 1] = q.y;
        y[h * 4 + 2] = q.z;
        y[h * 4 + 3] = q.w;
      }
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
    }
    if (more) store(now ^ 1);
    __syncthreads();
    now ^= 1;
  }

  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      const int r = row0 + r0 + i % 4 + i / 4 * 16, q = col0 + c0 + j % 4 + j / 4 * 32;
      if (r < n && q < n) c[r * n + q] = sum[i][j];
    }
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, cols), ceil_div(n, rows));
  matmul_kernel<<<grid, threads>>>(a, b, c, n);
  check(cudaGetLastError());
}
