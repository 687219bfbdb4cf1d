// neighbour 07_few_points: few points are compared all with all, one warp per point.
//
// idea    A grid takes eight launches before it compares anything. Its search then has one thread
//         per point, so a few thousand points give only a few warps, each of which waits for one
//         load after another. Up to several thousand points, brute force is faster if the lanes of
//         a warp share its work: every lane compares n / 32 points, then they agree on the nearest.
// watch   The worse the points suit a grid, in clusters or all in one place, the larger the gain.
//         The n at which both methods are equally fast depends on the GPU.
// needs   No scratch. To find the lowest index, a lane goes upwards, and equal distances of two
//         lanes are compared by index.
// source  "CUDA Succinctly", chapter 8: the structure has to fit the number of points.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"
#include "labs/neighbour/uniform_grid.hpp"

constexpr int block_size = 128;  // 4 warps: one for each scheduler of a multiprocessor
constexpr int few = 8000;        // no grid is built for up to this many points

// nearest[i] = the nearest other point of point i
__global__ void neighbour_kernel(point_grid grid, int* nearest, int n) {
  const int t = blockIdx.x * block_size + threadIdx.x;
  if (t >= n) return;
  const float4 p = grid.points[t];  // in cell order: the lanes of a warp search nearby cells
  const int i = __float_as_int(p.w);
  const int3 own = grid.cell_of(p.x, p.y, p.z), cells = grid.shape->cells;
  float best = INFINITY;
  int best_j = -1;
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
  nearest[i] = best_j;
}

// With few points, warp i compares point i with all others.
__global__ void few_points_kernel(const float* xyz, int* nearest, int n) {
  const int lane = threadIdx.x % 32, i = (blockIdx.x * block_size + threadIdx.x) / 32;
  if (i >= n) return;
  float best = INFINITY;
  int best_j = -1;
  //> todo: let a lane compare every 32nd point; then find out which lane has the nearest.
  for (int j = lane; j < n; j += 32) {
    const float dx = xyz[3 * j] - xyz[3 * i], dy = xyz[3 * j + 1] - xyz[3 * i + 1];
    const float dz = xyz[3 * j + 2] - xyz[3 * i + 2], d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
    if (d < best && j != i) {
      best = d;
      best_j = j;
    }
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    const float d = __shfl_xor_sync(0xffffffff, best, distance);
    const int j = __shfl_xor_sync(0xffffffff, best_j, distance);
    if (d < best || (d == best && j < best_j)) {
      best = d;
      best_j = j;
    }
  }
  //<
  if (lane == 0) nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  if (n <= few) {
    few_points_kernel<<<ceil_div(n, block_size / 32), block_size>>>(xyz, nearest, n);
  } else {
    const point_grid grid = build_grid(xyz, scratch, n);
    neighbour_kernel<<<ceil_div(n, block_size), block_size>>>(grid, nearest, n);
  }
  check(cudaGetLastError());
}
