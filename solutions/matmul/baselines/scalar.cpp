// matmul baseline: three loops on one core of the CPU, without vectors. This is the usual baseline
// of "100x faster than the CPU", which says little: cpu.cpp is the same CPU.
//
// watch   Additions of floats may not be reordered, so no compiler vectorises the inner loop.
// source  the definition of the product.
#include <cstdint>

#include "labs/matmul/matmul.hpp"

void matmul(const float* a, const float* b, float* c, int n) {
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t col = 0; col < n; ++col) {
      float sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
      c[row * n + col] = sum;
    }
  }
}
