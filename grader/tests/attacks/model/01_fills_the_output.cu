// attack transpose: SLOW, at most 60 points
// Sixteen fills of the whole output precede the kernel. On a GPU they take longer than the kernel.
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"
__global__ void tile(const float* in, float* out, int rows, int cols) {
  __shared__ float t[32][33];
  const int col = blockIdx.x * 32, row = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += 8)
    if (row + k < rows && col + int(threadIdx.x) < cols)
      t[k][threadIdx.x] = in[size_t(row + k) * cols + col + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8)
    if (col + k < cols && row + int(threadIdx.x) < rows)
      out[size_t(col + k) * rows + row + threadIdx.x] = t[threadIdx.x][k];
}
void transpose(const float* in, float* out, int rows, int cols) {
  for (int i = 0; i < 16; ++i) check(cudaMemsetAsync(out, i, size_t(rows) * cols * 4));
  tile<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
