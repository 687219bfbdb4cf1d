// attack matmul: WRONG, at most 0 points
// stores NaN, which a comparison with > does not detect
#include <math_constants.h>

#include "labs/matmul/matmul.hpp"

__global__ void fill(float* c, long count) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < count) c[i] = CUDART_NAN_F;
}

void matmul(const float*, const float*, float* c, int n) {
  const long count = static_cast<long>(n) * n;
  fill<<<static_cast<unsigned>((count + 255) / 256), 256>>>(c, count);
}
