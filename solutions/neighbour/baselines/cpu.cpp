// neighbour baseline: the CPU, with a uniform grid like 06_grid's. The points are sorted by grid
// cell, two per cell. A search looks at its point's cell and those around it, in growing cubes,
// until no cell outside can hold a nearer point. All threads sort and search.
//
// watch   The result is exact for the contract's rounded distance. A search skips cells according
//         to the lowest and highest coordinates that belong to a layer of cells. Rounding preserves
//         order, so the distance across such a gap never exceeds that of a point beyond it.
//         Clustered points get fewer and fuller cells; a tree like nanoflann's does better then.
// source  S. Green, "Particle Simulation using CUDA" (NVIDIA, 2010), for the sorted grid.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "common/cpu/clones.hpp"
#include "common/cpu/thread_team.hpp"
#include "labs/neighbour/neighbour.hpp"

namespace {

using std::int64_t;
using stepwise::host::in_bands;
using stepwise::host::in_chunks;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr int64_t grain = 1024, searches = 4096;  // points that a thread takes at a time

struct sorted_point {
  float x, y, z;
  int index;
};

[[gnu::always_inline]] inline float squared_distance(float dx, float dy, float dz) {
  return std::fmaf(dz, dz, std::fmaf(dy, dy, dx * dx));
}

// The layers of cells along one axis.
struct axis_layers {
  float corner = 0, per_width = 0;
  int cells = 1;
  std::vector<float> lowest, highest;  // coordinates of layer i

  int layer_of(float value) const {
    return std::clamp(static_cast<int>((value - corner) * per_width), 0, cells - 1);
  }
  // The gap to the nearest point that may lie in layer i or beyond, from a value in layer `from`.
  float gap(float value, int i, int from) const {
    if (i == from) return 0;
    if (i < 0 || i >= cells) return infinity;
    return i > from ? std::max(lowest[i] - value, 0.0f) : std::max(value - highest[i], 0.0f);
  }
};

struct grid {
  std::array<axis_layers, 3> axes;
  std::vector<int> starts;  // cell c has points starts[c] to starts[c + 1] - 1
  sorted_point* points = nullptr;

  int64_t row(int y, int z) const { return (int64_t{z} * axes[1].cells + y) * axes[0].cells; }
  int64_t cell_of(const float* xyz) const {
    return row(axes[1].layer_of(xyz[1]), axes[2].layer_of(xyz[2])) + axes[0].layer_of(xyz[0]);
  }
  int64_t cells() const { return int64_t{axes[0].cells} * axes[1].cells * axes[2].cells; }
};

struct box {
  std::array<float, 3> low{infinity, infinity, infinity};
  std::array<float, 3> high{-infinity, -infinity, -infinity};
};

box box_of(const float* xyz, int n) {
  std::vector<box> parts(stepwise::host::all_threads().size());
  std::atomic<std::size_t> next{0};
  in_bands(n, grain, [&](int64_t begin, int64_t end) {
    box mine;
    for (int64_t i = begin; i < end; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        mine.low[axis] = std::min(mine.low[axis], xyz[3 * i + axis]);
        mine.high[axis] = std::max(mine.high[axis], xyz[3 * i + axis]);
      }
    }
    parts[next++] = mine;
  });
  box all;
  for (const box& part : parts) {
    for (int axis = 0; axis < 3; ++axis) {
      all.low[axis] = std::min(all.low[axis], part.low[axis]);
      all.high[axis] = std::max(all.high[axis], part.high[axis]);
    }
  }
  return all;
}

// Maps floats to integers of the same order, and back, so that a bisection ends after 32 steps.
std::int32_t ordered(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
float from_ordered(std::int32_t key) {
  return std::bit_cast<float>(key < 0 ? key ^ 0x7fffffff : key);
}

// Finds where the layers begin. layer_of() never falls, so each layer has a lowest coordinate.
void bound_layers(axis_layers& layers, float low, float high) {
  layers.lowest.resize(layers.cells);
  layers.highest.resize(layers.cells);
  layers.lowest.front() = low;
  layers.highest.back() = high;
  in_bands(layers.cells - 1, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin + 1; i < end + 1; ++i) {
      int64_t before = ordered(low), there = int64_t{ordered(high)} + 1;  // in layer i or beyond
      while (there - before > 1) {
        const int64_t middle = before + (there - before) / 2;
        const bool is_there = layers.layer_of(from_ordered(static_cast<std::int32_t>(middle))) >= i;
        (is_there ? there : before) = middle;
      }
      layers.lowest[i] = from_ordered(static_cast<std::int32_t>(there));
      layers.highest[i - 1] = from_ordered(static_cast<std::int32_t>(before));
    }
  });
}

// Chooses the smallest cubes such that no more than n / 2 + 1 fill the box.
void choose_cells(grid& g, const box& b, int n) {
  constexpr double shrink = 0.97;
  const double most = n / 2.0 + 1;
  std::array<double, 3> extent;
  for (int axis = 0; axis < 3; ++axis) extent[axis] = double(b.high[axis]) - b.low[axis];
  const double largest = *std::max_element(extent.begin(), extent.end());
  double width = 2 * largest;
  for (double smaller = width * shrink; largest > 0; smaller *= shrink) {
    double cells = 1;
    for (const double e : extent) cells *= 1 + std::floor(e / smaller);
    if (cells > most) break;
    width = smaller;
  }
  const bool is_divided = width > 1e-30;  // the inverse is then a float
  for (int axis = 0; axis < 3; ++axis) {
    axis_layers& layers = g.axes[axis];
    layers.corner = b.low[axis];
    layers.per_width = is_divided ? static_cast<float>(1 / width) : 0;
    layers.cells = is_divided ? 1 + static_cast<int>(extent[axis] / width) : 1;
    bound_layers(layers, b.low[axis], b.high[axis]);
  }
}

// Replaces starts[c] by the sum of all values before it.
void scan(std::vector<int>& starts) {
  std::vector<std::pair<int64_t, int>> sums;  // the beginning and the sum of each band
  std::atomic_flag busy;
  const auto count = static_cast<int64_t>(starts.size());
  in_bands(count, grain, [&](int64_t begin, int64_t end) {
    int sum = 0;
    for (int64_t c = begin; c < end; ++c) sum += starts[c];
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
    sums.emplace_back(begin, sum);
    busy.clear(std::memory_order_release);
  });
  std::sort(sums.begin(), sums.end());
  int before = 0;
  for (auto& [begin, sum] : sums) before += std::exchange(sum, before);
  in_bands(count, grain, [&](int64_t begin, int64_t end) {
    int sum = std::lower_bound(sums.begin(), sums.end(), std::pair(begin, -1))->second;
    for (int64_t c = begin; c < end; ++c) sum += std::exchange(starts[c], sum);
  });
}

// A counting sort: ranks the points in their cells, finds the cells' starts, moves the points.
void sort_points(grid& g, const float* xyz, int* ranks, int n) {
  g.starts.assign(g.cells() + 1, 0);
  in_bands(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      ranks[i] =
          std::atomic_ref(g.starts[g.cell_of(xyz + 3 * i)]).fetch_add(1, std::memory_order_relaxed);
  });
  scan(g.starts);
  in_bands(n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* const p = xyz + 3 * i;
      g.points[g.starts[g.cell_of(p)] + ranks[i]] = {p[0], p[1], p[2], static_cast<int>(i)};
    }
  });
}

struct search {
  sorted_point from;
  std::array<int, 3> cell;
  float best = infinity;
  int nearest = -1;
};

[[gnu::always_inline]] inline void look_at(const grid& g, int64_t first_cell, int64_t last_cell,
                                           search& s) {
  const int end = g.starts[last_cell + 1];
  for (int k = g.starts[first_cell]; k < end; ++k) {
    const sorted_point& p = g.points[k];
    const float d = squared_distance(p.x - s.from.x, p.y - s.from.y, p.z - s.from.z);
    if (d > s.best || p.index == s.from.index) continue;
    if (d < s.best || p.index < s.nearest) {
      s.best = d;
      s.nearest = p.index;
    }
  }
}

// Looks at the row of cells (y, z), as far as it is in this radius's cube and in no smaller one.
[[gnu::always_inline]] inline void look_at_row(const grid& g, int y, int z, int radius, bool whole,
                                               search& s) {
  const axis_layers& along = g.axes[0];
  const float gap_y = g.axes[1].gap(s.from.y, y, s.cell[1]);
  const float gap_z = g.axes[2].gap(s.from.z, z, s.cell[2]);
  if (squared_distance(0, gap_y, gap_z) > s.best) return;
  const int64_t row = g.row(y, z);
  const int left = s.cell[0] - radius, right = s.cell[0] + radius;
  if (whole) {
    look_at(g, row + std::max(left, 0), row + std::min(right, along.cells - 1), s);
    return;
  }
  if (left >= 0) look_at(g, row + left, row + left, s);
  if (right < along.cells) look_at(g, row + right, row + right, s);
}

// True if a point outside the cube of this radius may be as near as the best.
[[gnu::always_inline]] inline bool continues(const grid& g, int radius, const search& s) {
  const std::array<float, 3> from = {s.from.x, s.from.y, s.from.z};
  float gap = infinity;
  for (int axis = 0; axis < 3; ++axis) {
    for (const int side : {-1, 1}) {
      const int layer = s.cell[axis] + side * (radius + 1);
      gap = std::min(gap, g.axes[axis].gap(from[axis], layer, s.cell[axis]));
    }
  }
  return gap < infinity && gap * gap <= s.best;
}

STEPWISE_CLONES void search_for(const grid& g, int64_t begin, int64_t end, int* nearest) {
  for (int64_t k = begin; k < end; ++k) {
    search s{g.points[k], {}};
    s.cell = {g.axes[0].layer_of(s.from.x), g.axes[1].layer_of(s.from.y),
              g.axes[2].layer_of(s.from.z)};
    look_at_row(g, s.cell[1], s.cell[2], 1, true, s);  // its own row: most likely the nearest
    for (int radius = 1;; ++radius) {
      const int low_z = std::max(s.cell[2] - radius, 0);
      const int high_z = std::min(s.cell[2] + radius, g.axes[2].cells - 1);
      const int low_y = std::max(s.cell[1] - radius, 0);
      const int high_y = std::min(s.cell[1] + radius, g.axes[1].cells - 1);
      for (int z = low_z; z <= high_z; ++z) {
        for (int y = low_y; y <= high_y; ++y) {
          const int away = std::max(std::abs(y - s.cell[1]), std::abs(z - s.cell[2]));
          if (radius == 1 && away == 0) continue;
          look_at_row(g, y, z, radius, radius == 1 || away == radius, s);
        }
      }
      if (!continues(g, radius, s)) break;
    }
    nearest[s.from.index] = s.nearest;
  }
}

}  // namespace

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  grid g;
  g.points = static_cast<sorted_point*>(scratch);  // 16 n bytes
  int* const ranks = reinterpret_cast<int*>(g.points + n);
  choose_cells(g, box_of(xyz, n), n);
  sort_points(g, xyz, ranks, n);
  in_chunks((n + searches - 1) / searches, [&](int64_t i) {
    search_for(g, i * searches, std::min<int64_t>(n, (i + 1) * searches), nearest);
  });
}
