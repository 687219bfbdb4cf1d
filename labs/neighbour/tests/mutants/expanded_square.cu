// neighbour mutant: computes x^2 - 2 x y + y^2 for (x - y)^2. That is cheaper, but for points that
// are near each other, cancellation loses the small difference between their distances.
#include "common/lab/ceil_div.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;

__global__ void neighbour_kernel(const float* xyz, int* nearest, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float x_i = xyz[3 * i], y_i = xyz[3 * i + 1], z_i = xyz[3 * i + 2];
  const float own = fmaf(z_i, z_i, fmaf(y_i, y_i, x_i * x_i));
  float best = INFINITY;
  int best_j = -1;
  for (int j = 0; j < n; ++j) {
    const float x = xyz[3 * j], y = xyz[3 * j + 1], z = xyz[3 * j + 2];
    const float other = fmaf(z, z, fmaf(y, y, x * x));
    const float d = own + other - 2 * fmaf(z, z_i, fmaf(y, y_i, x * x_i));
    if (d < best && j != i) {
      best = d;
      best_j = j;
    }
  }
  nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void*, int n) {
  neighbour_kernel<<<ceil_div(n, block_size), block_size>>>(xyz, nearest, n);
}
