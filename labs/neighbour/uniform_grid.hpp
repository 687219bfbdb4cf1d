// Sorts points into the cells of a grid on the device, so that a kernel can search near a point.
//
// idea    The points' bounding box is divided into cubes, one per two to four points. A counting
//         sort puts the points in the order of their cells: count the points of each cell, turn
//         counts into positions by an exclusive scan, scatter. Along x the cells of a row follow
//         each other, so the points of neighbouring cells are neighbours in memory.
// watch   The host never knows how many cells there are, so kernels are launched for the largest
//         number possible. Empty space has cells, too: clustered points get fewer and fuller ones.
// source  S. Green, "Particle Simulation using CUDA" (NVIDIA, 2010), for the sorted grid;
//         M. Harris et al., "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3 (2007).
// tested  through 06_grid
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <climits>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"

// The cubes. There are at most point_grid::most_cells of them.
struct cell_shape {
  int low[3], high[3];  // of the points, as keys of ordered()
  float corner[3];      // the smallest x, y, z
  float width;          // of a cube
  float per_width;      // its inverse
  int3 cells;           // along x, y, z
};

// Maps floats to integers of the same order, because there is no atomicMin for floats; and back.
__device__ inline int ordered(float value) {
  const int bits = __float_as_int(value);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
__device__ inline float from_ordered(int key) {
  return __int_as_float(key < 0 ? key ^ 0x7fffffff : key);
}

struct point_grid {
  cell_shape* shape;
  int* starts;     // most_cells + 1 of them: cell c has points starts[c] to starts[c + 1] - 1
  int* tile_sums;  // of tiles of starts, during the scan
  int* ranks;      // the rank of point i in its cell
  float4* points;  // x, y, z, and the index as an int's bits, in the order of the cells
  int most_cells;

  // The position of a coordinate along an axis, in cell widths from the corner. It never falls as
  // the coordinate rises, because neither rounding does.
  __device__ float place(float coordinate, int axis) const {
    return (coordinate - shape->corner[axis]) * shape->per_width;
  }
  __device__ int3 cell_of(float x, float y, float z) const {
    return make_int3(int(place(x, 0)), int(place(y, 1)), int(place(z, 2)));
  }
  __device__ int number(int3 cell) const {
    return (cell.z * shape->cells.y + cell.y) * shape->cells.x + cell.x;
  }
  // The number of rings that reach every cell from any cell. Ring 0 is the point's own cell.
  __device__ int rings() const { return max(max(shape->cells.x, shape->cells.y), shape->cells.z); }

  // The range in points[] of the points in the cells x0 to x1 of a row. x0 and x1 may lie outside
  // the grid, where there are no points; x0 <= x1.
  __device__ int2 range(int x0, int x1, int y, int z) const {
    if (x1 < 0 || x0 >= shape->cells.x) return make_int2(0, 0);
    const int first = number(make_int3(max(x0, 0), y, z));
    const int last = number(make_int3(min(x1, shape->cells.x - 1), y, z));
    return make_int2(starts[first], starts[last + 1]);
  }

  // The square of a distance. No point outside the cube of cells from `cell` - r to `cell` + r is
  // nearer to `p`, a point of `cell`, than this. Infinity if there is no cell outside.
  //
  // This holds even after rounding. Along an axis of c cells, places are at most c(1 + 2^-22), and
  // each has been rounded twice, by 2^-24 of itself. A point beyond the cube has a place of at
  // least the edge, so in exact numbers it is no nearer than the gap between the edge and p, in
  // widths, less c * 2^-22. Rounding the gap adds at most c * 2^-23. So does the product with the
  // width. The sum is below the margin c * 2^-20. The result is a float no larger than the
  // coordinates' true difference. Rounding preserves order, so the contract's dx * dx is no smaller
  // than its rounded square, and adding squares makes no distance smaller.
  __device__ float beyond(const float4& p, int3 cell, int r) const {
    const float position[3] = {place(p.x, 0), place(p.y, 1), place(p.z, 2)};
    const int own[3] = {cell.x, cell.y, cell.z};
    const int counts[3] = {shape->cells.x, shape->cells.y, shape->cells.z};
    float least = INFINITY;
    for (int axis = 0; axis < 3; ++axis) {
      const float margin = float(counts[axis]) * 0x1p-20f;
      if (own[axis] - r > 0) least = fminf(least, position[axis] - float(own[axis] - r) - margin);
      if (own[axis] + r + 1 < counts[axis]) {
        least = fminf(least, float(own[axis] + r + 1) - position[axis] - margin);
      }
    }
    const float distance = fmaxf(least, 0) * shape->width;
    return distance * distance;
  }
};

namespace grid_building {

constexpr int threads = 128;
constexpr int tile = 1024;             // of starts, scanned by one warp
constexpr float shrink = 0.8f;         // factor of a cell's width from one trial to the next
constexpr int most_trials = 64;        // 2 * 0.8^64 is over 2^-20: at most 2^20 cells along an axis
constexpr float least_width = 1e-30f;  // its inverse is finite, and still is after all trials
constexpr unsigned all_lanes = 0xffffffff;

// The calling thread's number in its grid.
__device__ inline int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Initialises the grid: there is no point in any cell, and the bounding box is empty.
static __global__ void clear(point_grid grid) {
  const int c = thread_number();
  if (c <= grid.most_cells) grid.starts[c] = 0;
  if (c < 3) {
    grid.shape->low[c] = INT_MAX;
    grid.shape->high[c] = INT_MIN;
  }
}

// Finds the bounding box. A thread looks at many points, and the lanes of a warp combine theirs.
static __global__ void measure(const float* xyz, point_grid grid, int n) {
  for (int axis = 0; axis < 3; ++axis) {
    int low = INT_MAX, high = INT_MIN;
    for (long long i = thread_number(); i < n; i += gridDim.x * blockDim.x) {
      const int key = ordered(xyz[3 * i + axis]);
      low = min(low, key);
      high = max(high, key);
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      low = min(low, __shfl_xor_sync(all_lanes, low, lanes));
      high = max(high, __shfl_xor_sync(all_lanes, high, lanes));
    }
    if (threadIdx.x % 32 == 0) {
      atomicMin(&grid.shape->low[axis], low);
      atomicMax(&grid.shape->high[axis], high);
    }
  }
}

// One thread chooses the width: the smallest of a sequence that gives at most most_cells cells.
static __global__ void choose(point_grid grid) {
  cell_shape& shape = *grid.shape;
  float extent[3], largest = least_width;
  for (int axis = 0; axis < 3; ++axis) {
    shape.corner[axis] = from_ordered(shape.low[axis]);
    extent[axis] = from_ordered(shape.high[axis]) - shape.corner[axis];
    largest = fmaxf(largest, extent[axis]);
  }
  float width = 2 * largest;  // one cell
  shape.width = width;
  shape.per_width = 1 / width;
  shape.cells = make_int3(1, 1, 1);
  for (int trial = 0; trial < most_trials; ++trial) {
    width *= shrink;
    long long cells[3];
    for (int axis = 0; axis < 3; ++axis) {
      // Up to the last point's cell.
      cells[axis] = 1 + static_cast<long long>(extent[axis] * (1 / width));
    }
    if (cells[0] * cells[1] > grid.most_cells) break;  // tested first: three factors could overflow
    if (cells[0] * cells[1] * cells[2] > grid.most_cells) break;
    shape.width = width;
    shape.per_width = 1 / width;
    shape.cells = make_int3(int(cells[0]), int(cells[1]), int(cells[2]));
  }
}

// Counts the points of each cell in starts, and stores each point's rank in its cell.
static __global__ void count(const float* xyz, point_grid grid, int n) {
  const int i = thread_number();
  if (i >= n) return;
  const int3 cell = grid.cell_of(xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]);
  grid.ranks[i] = atomicAdd(&grid.starts[grid.number(cell)], 1);
}

// A warp turns each tile of `length` values into its exclusive scan, 32 values at a time, and
// stores the tile's sum in sums[tile].
static __global__ void scan_tiles(int* values, int* sums, int count, int length) {
  const int mine = thread_number() / 32, lane = threadIdx.x % 32;
  const int begin = mine * length, end = min(count - begin, length) + begin;
  if (begin >= count) return;
  int before = 0;
  for (int first = begin; first < end; first += 32) {
    const int i = first + lane, value = i < end ? values[i] : 0;
    int sum = value;
    for (int lanes = 1; lanes < 32; lanes *= 2) {
      const int left = __shfl_up_sync(all_lanes, sum, lanes);
      if (lane >= lanes) sum += left;
    }
    if (i < end) values[i] = before + sum - value;
    before += __shfl_sync(all_lanes, sum, 31);
  }
  if (lane == 0 && sums != nullptr) sums[mine] = before;
}

// Turns the scans of the tiles into one scan of all cells.
static __global__ void add_sums(point_grid grid) {
  const int c = thread_number();
  if (c <= grid.most_cells) grid.starts[c] += grid.tile_sums[c / tile];
}

// Stores each point at its place in the order of cells, with its index in w.
static __global__ void scatter(const float* xyz, point_grid grid, int n) {
  const int i = thread_number();
  if (i >= n) return;
  const float x = xyz[3 * i], y = xyz[3 * i + 1], z = xyz[3 * i + 2];
  const int to = grid.starts[grid.number(grid.cell_of(x, y, z))] + grid.ranks[i];
  grid.points[to] = make_float4(x, y, z, __int_as_float(i));
}

}  // namespace grid_building

// Launches the kernels that sort the points into a grid in `scratch`, at least 22 n + 4096 bytes.
inline point_grid build_grid(const float* xyz, void* scratch, int n) {
  using namespace grid_building;
  const int most_cells = n / 2 + 1, counted = most_cells + 1, tiles = ceil_div(counted, tile);
  char* free = static_cast<char*>(scratch);
  const auto take = [&free](std::size_t bytes) {  // aligned to 16 bytes, for float4
    char* const taken = free;
    free += (bytes + 15) / 16 * 16;
    return taken;
  };
  point_grid grid{};
  grid.points = reinterpret_cast<float4*>(take(sizeof(float4) * std::size_t(n)));
  grid.ranks = reinterpret_cast<int*>(take(sizeof(int) * std::size_t(n)));
  grid.starts = reinterpret_cast<int*>(take(sizeof(int) * std::size_t(counted)));
  grid.tile_sums = reinterpret_cast<int*>(take(sizeof(int) * std::size_t(tiles)));
  grid.shape = reinterpret_cast<cell_shape*>(take(sizeof(cell_shape)));
  grid.most_cells = most_cells;

  const int for_cells = ceil_div(counted, threads), for_points = ceil_div(n, threads);
  const int measuring = std::min(for_points, 256);  // blocks: each ends in atomic operations
  clear<<<for_cells, threads>>>(grid);
  check(cudaGetLastError());
  measure<<<measuring, threads>>>(xyz, grid, n);
  check(cudaGetLastError());
  choose<<<1, 1>>>(grid);
  check(cudaGetLastError());
  count<<<for_points, threads>>>(xyz, grid, n);
  check(cudaGetLastError());
  scan_tiles<<<ceil_div(tiles, threads / 32), threads>>>(grid.starts, grid.tile_sums, counted,
                                                         tile);
  check(cudaGetLastError());
  scan_tiles<<<1, 32>>>(grid.tile_sums, nullptr, tiles, tiles);
  check(cudaGetLastError());
  add_sums<<<for_cells, threads>>>(grid);
  check(cudaGetLastError());
  scatter<<<for_points, threads>>>(xyz, grid, n);
  check(cudaGetLastError());
  return grid;
}
