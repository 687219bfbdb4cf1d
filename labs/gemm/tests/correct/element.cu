// gemm, correct: one thread per element of c.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/gemm.hpp"

constexpr int block_rows = 8, block_cols = 32;

__global__ void gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                            int n, int k) {
  const int row = blockIdx.y * block_rows + threadIdx.y;
  const int col = blockIdx.x * block_cols + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += __bfloat162float(a[row * k + i]) * __bfloat162float(b[i * n + col]);
  c[row * n + col] = __float2bfloat16(sum);
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const dim3 grid(ceil_div(n, block_cols), ceil_div(m, block_rows));
  gemm_kernel<<<grid, dim3(block_cols, block_rows)>>>(a, b, c, m, n, k);
  check(cudaGetLastError());
}
