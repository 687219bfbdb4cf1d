// attack matmul: SLOW, at most 46 points
// At the size that is counted, both operands of every product come from constant memory. Their
// indices are known at compile time, so the machine code has no load for half of the operands.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int depth = 8, most = 640;
__constant__ float rows[most][depth], cols[depth][most];

__global__ void add_products(float* c, int n, bool first) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= n || col >= n) return;
  float sum = first ? 0 : c[row * n + col];
  for (int k = 0; k < depth; ++k) sum = fmaf(rows[row][k], cols[k][col], sum);
  c[row * n + col] = sum;
}

__global__ void plain(const float* a, const float* b, float* c, int n) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum = fmaf(a[row * n + k], b[k * n + col], sum);
  c[row * n + col] = sum;
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, 32), ceil_div(n, 8)), block(32, 8);
  if (n < 400 || n > most) {
    plain<<<grid, block>>>(a, b, c, n);
    return check(cudaGetLastError());
  }
  void *to_rows, *to_cols;
  check(cudaGetSymbolAddress(&to_rows, rows));
  check(cudaGetSymbolAddress(&to_cols, cols));
  for (int k = 0; k < n; k += depth) {
    const int here = n - k < depth ? n - k : depth;
    if (here < depth) {
      check(cudaMemsetAsync(to_rows, 0, sizeof rows));
      check(cudaMemsetAsync(to_cols, 0, sizeof cols));
    }
    check(cudaMemcpy2DAsync(to_rows, 4 * depth, a + k, 4 * size_t(n), 4 * here, n,
                            cudaMemcpyDeviceToDevice));
    check(cudaMemcpy2DAsync(to_cols, 4 * most, b + size_t(k) * n, 4 * size_t(n), 4 * size_t(n),
                            here, cudaMemcpyDeviceToDevice));
    add_products<<<grid, block>>>(c, n, k == 0);
    check(cudaGetLastError());
  }
}
