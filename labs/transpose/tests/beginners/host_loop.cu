// transpose, a beginner's mistake: a CPU loop reads and writes device memory.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"

constexpr int tile = 32;

void transpose(const float* in, float* out, int rows, int cols) {
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < cols; ++col) out[col * rows + row] = in[row * cols + col];
}
