// neighbour, correct: a thread per point.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;

// nearest[i] = the point that is nearest to point i, other than i
__global__ void neighbour_kernel(const float* xyz, int* nearest, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float x_i = xyz[3 * i], y_i = xyz[3 * i + 1], z_i = xyz[3 * i + 2];
  float best = INFINITY;
  int best_j = -1;
  for (int j = 0; j < n; ++j) {
    const float dx = xyz[3 * j] - x_i, dy = xyz[3 * j + 1] - y_i, dz = xyz[3 * j + 2] - z_i;
    const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
    if (j != i && d < best) {
      best = d;
      best_j = j;
    }
  }
  nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, [[maybe_unused]] void* scratch, int n) {
  neighbour_kernel<<<ceil_div(n, block_size), block_size>>>(xyz, nearest, n);
  check(cudaGetLastError());
}
