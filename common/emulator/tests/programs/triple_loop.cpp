// The matrix product as one would first write it in C++, in i, j, k order. It is built with -O2.
#include "common/emulator/tests/programs/triple_loop.hpp"

void triple_loop(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
}
