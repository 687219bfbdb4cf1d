// attack matmul: WRONG, at most 0 points
// multiplies in half precision
#include <cuda_fp16.h>

#include "labs/matmul/matmul.hpp"

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (col >= n) return;
  __half sum = __float2half(0.0f);
  for (int k = 0; k < n; ++k) {
    sum = __hadd(sum, __hmul(__float2half(a[row * n + k]), __float2half(b[k * n + col])));
  }
  c[row * n + col] = __half2float(sum);
}

void matmul(const float* a, const float* b, float* c, int n) {
  multiply<<<dim3((n + 127) / 128, n), 128>>>(a, b, c, n);
}
