// attack transpose: CHECK or WRONG, at most 0 points
// writes before and after the output, where other data may lie
#include "labs/transpose/transpose.hpp"

__global__ void turn(const float* in, float* out, int rows, int cols) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  const long count = static_cast<long>(rows) * cols;
  if (i < count) out[(i % cols) * rows + i / cols] = in[i];
  if (i == 0) out[-1] = out[count] = 0;
}

void transpose(const float* in, float* out, int rows, int cols) {
  const long count = static_cast<long>(rows) * cols;
  turn<<<static_cast<unsigned>((count + 255) / 256), 256>>>(in, out, rows, cols);
}
