// matmul peer: three loops on one core of the CPU, without vectors. What "a hundred times as fast
// as the CPU" is most often measured against, and why it says little: cpu.cpp is the same CPU.
//
// watch   Additions of floats may not change places, so no compiler vectorises the inner loop.
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
