// attack neighbour: WRONG, at most 0 points
// looks only at a part of the points if there are many
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;

__global__ void find(const float* xyz, int* nearest, int n, int looked_at) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float x = xyz[3 * i], y = xyz[3 * i + 1], z = xyz[3 * i + 2];
  float best = INFINITY;
  int best_j = -1;
  for (int j = 0; j < looked_at; ++j) {
    const float dx = xyz[3 * j] - x, dy = xyz[3 * j + 1] - y, dz = xyz[3 * j + 2] - z;
    const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
    if (d < best && j != i) best = d, best_j = j;
  }
  nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void*, int n) {
  find<<<(n + block_size - 1) / block_size, block_size>>>(xyz, nearest, n, n > 20000 ? n / 32 : n);
  check(cudaGetLastError());
}
