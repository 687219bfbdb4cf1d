// attack transpose: SLOW, at most 40 points
// One warp of the grid passes one row through shared memory, so that there is a figure without bank
// conflicts. The rest is the naive kernel.
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"
__global__ void naive(const float* in, float* out, int rows, int cols) {
  __shared__ volatile float s[32];
  const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float v = in[r * size_t(cols) + c];
  if (blockIdx.x + blockIdx.y == 0 && threadIdx.y == 0) {
    s[threadIdx.x] = v;
    v = s[threadIdx.x];
  }
  out[c * size_t(rows) + r] = v;
}
void transpose(const float* in, float* out, int rows, int cols) {
  naive<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
