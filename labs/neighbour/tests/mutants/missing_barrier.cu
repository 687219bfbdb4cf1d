// neighbour mutant: has no barrier before the tile is used, so a warp compares points that another
// warp has not loaded yet.
#include "common/lab/ceil_div.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;

__global__ void neighbour_kernel(const float* xyz, int* nearest, int n) {
  __shared__ float tile[block_size][3];
  const int t = threadIdx.x, i = blockIdx.x * block_size + t;
  const int mine = min(i, n - 1);
  const float x_i = xyz[3 * mine], y_i = xyz[3 * mine + 1], z_i = xyz[3 * mine + 2];
  float best = INFINITY;
  int best_j = -1;
  for (int first = 0; first < n; first += block_size) {
    const int count = min(block_size, n - first);
    for (int axis = 0; axis < 3 && t < count; ++axis) tile[t][axis] = xyz[3 * (first + t) + axis];
    for (int k = 0; k < count; ++k) {
      const float dx = tile[k][0] - x_i, dy = tile[k][1] - y_i, dz = tile[k][2] - z_i;
      const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
      if (d < best && first + k != i) {
        best = d;
        best_j = first + k;
      }
    }
    __syncthreads();
  }
  if (i < n) nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void*, int n) {
  neighbour_kernel<<<ceil_div(n, block_size), block_size>>>(xyz, nearest, n);
}
