// attack transpose: SLOW, at most 40 points
// There is no tile. Every value goes through its thread's own word of shared memory.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int threads = 128;

__global__ void detour(const float* in, float* out, int rows, int cols) {
  __shared__ volatile float own[threads];
  const int col = blockIdx.x * threads + threadIdx.x;
  for (int row = blockIdx.y; row < rows && col < cols; row += gridDim.y) {
    own[threadIdx.x] = in[static_cast<std::size_t>(row) * cols + col];
    out[static_cast<std::size_t>(col) * rows + row] = own[threadIdx.x];
  }
}

void transpose(const float* in, float* out, int rows, int cols) {
  detour<<<dim3(ceil_div(cols, threads), min(rows, 4096)), threads>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
