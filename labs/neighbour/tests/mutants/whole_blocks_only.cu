// neighbour mutant: as many blocks as are full: the points behind them get no answer.
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;

__global__ void neighbour_kernel(const float* xyz, int* nearest, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float x_i = xyz[3 * i], y_i = xyz[3 * i + 1], z_i = xyz[3 * i + 2];
  float best = INFINITY;
  int best_j = -1;
  for (int j = 0; j < n; ++j) {
    const float dx = xyz[3 * j] - x_i, dy = xyz[3 * j + 1] - y_i, dz = xyz[3 * j + 2] - z_i;
    const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
    if (d < best && j != i) best = d, best_j = j;
  }
  nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void*, int n) {
  const int blocks = n < block_size ? 1 : n / block_size;
  neighbour_kernel<<<blocks, block_size>>>(xyz, nearest, n);
}
