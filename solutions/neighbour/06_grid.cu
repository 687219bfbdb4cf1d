// neighbour 06_grid: points are sorted into cells: only those nearby are compared.
//
// idea    Points are sorted into the cells of a grid. The nearest point is probably in the same
//         cell or an adjacent one. Look there first, then in the next ring, and stop when every
//         point further out is farther than the best. This takes dozens of pairs per point.
// watch   The lanes of a warp have different cells, full or empty, so they wait for each other, and
//         their loads are not broadcasts. Clustered points crowd into few cells; if all coincide,
//         this is brute force without tiles. For few points, eight launches of sorting do not pay.
// needs   22 bytes of scratch per point. Rounding must not hide a point: see point_grid::beyond().
//         The order within a cell is arbitrary, so ties are compared by index.
// source  "CUDA Succinctly", chapter 8, which advises it; J. Bentley, "A Survey of Techniques for
//         Fixed Radius Near Neighbor Searching" (1975), for cells.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"
#include "labs/neighbour/uniform_grid.hpp"

constexpr int block_size = 128;  // 4 warps: one for each scheduler of a multiprocessor

// nearest[i] = the nearest other point of point i
__global__ void neighbour_kernel(point_grid grid, int* nearest, int n) {
  const int t = blockIdx.x * block_size + threadIdx.x;
  if (t >= n) return;
  const float4 p = grid.points[t];  // in cell order: the lanes of a warp search nearby cells
  const int i = __float_as_int(p.w);
  const int3 own = grid.cell_of(p.x, p.y, p.z), cells = grid.shape->cells;
  float best = INFINITY;
  int best_j = -1;
  //> todo: ring by ring, r = 0, 1, ...: compare the points of its cells; stop when none is left.
  for (int r = 0; r < grid.rings(); ++r) {
    for (int z = max(own.z - r, 0); z <= min(own.z + r, cells.z - 1); ++z) {
      for (int y = max(own.y - r, 0); y <= min(own.y + r, cells.y - 1); ++y) {
        const bool on_face = abs(z - own.z) == r || abs(y - own.y) == r;  // else: a row's two ends
        for (int x = own.x - r; x <= own.x + r; x += on_face ? 2 * r + 1 : 2 * r) {
          const int2 range = grid.range(x, on_face ? own.x + r : x, y, z);
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
    }
    if (best < grid.beyond(p, own, r)) break;
  }
  //<
  nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  const point_grid grid = build_grid(xyz, scratch, n);
  neighbour_kernel<<<ceil_div(n, block_size), block_size>>>(grid, nearest, n);
  check(cudaGetLastError());
}
