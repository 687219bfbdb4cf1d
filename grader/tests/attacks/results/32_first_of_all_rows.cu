// attack transpose: WRONG, at most 0 points
// transposes only a square part
#include "labs/transpose/transpose.hpp"

__global__ void turn(const float* in, float* out, int n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < static_cast<long>(n) * n) out[(i % n) * n + i / n] = in[i];
}

void transpose(const float* in, float* out, int rows, int cols) {
  const int n = rows < cols ? rows : cols;
  turn<<<static_cast<unsigned>((static_cast<long>(n) * n + 255) / 256), 256>>>(in, out, n);
}
