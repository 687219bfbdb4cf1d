// neighbour, correct: a thread per point searches the cells of a grid, ring by ring.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"
#include "labs/neighbour/uniform_grid.hpp"

constexpr int block_size = 128;

__global__ void neighbour_kernel(point_grid grid, int* nearest, int n) {
  const int t = blockIdx.x * block_size + threadIdx.x;
  if (t >= n) return;
  const float4 p = grid.points[t];
  const int i = __float_as_int(p.w);
  const int3 own = grid.cell_of(p.x, p.y, p.z), cells = grid.shape->cells;
  float best = INFINITY;
  int best_j = -1;
  for (int r = 0; r < grid.rings(); ++r) {
    for (int z = max(own.z - r, 0); z <= min(own.z + r, cells.z - 1); ++z) {
      for (int y = max(own.y - r, 0); y <= min(own.y + r, cells.y - 1); ++y) {
        const int2 range = grid.range(own.x - r, own.x + r, y, z);
        for (int k = range.x; k < range.y; ++k) {
          const float4 q = grid.points[k];
          const int j = __float_as_int(q.w);
          const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
          const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
          if ((d < best || (d == best && j < best_j)) && j != i) {
            best = d;
            best_j = j;
          }
        }
      }
    }
    if (best < grid.beyond(p, own, r)) break;
  }
  nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  const point_grid grid = build_grid(xyz, scratch, n);
  neighbour_kernel<<<ceil_div(n, block_size), block_size>>>(grid, nearest, n);
  check(cudaGetLastError());
}
