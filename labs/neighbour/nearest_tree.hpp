// Finds nearest other points on the CPU, as a reference for the lab's results.
//
// idea    A k-d tree whose nodes store the bounding box and the lowest index of their points. A
//         search skips a node if none of its points can be nearer than the best, or as near with a
//         lower index. It stays fast even if all points coincide.
// watch   The result is exact for the contract's rounded distance. A box's distance is computed
//         from the gaps along the axes by the same operations. Rounding preserves order, so it
//         never exceeds the distance to a point in the box.
// source  J. Bentley, "Multidimensional Binary Search Trees Used for Associative Searching" (1975).
// tested  labs/neighbour/tests/problem_test.cpp compares it with all pairs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace stepwise {

using point = std::array<float, 3>;

// The contract's squared distance from the differences along the axes. Their signs do not matter.
inline float squared_distance(float dx, float dy, float dz) {
  return std::fmaf(dz, dz, std::fmaf(dy, dy, dx * dx));
}
inline float squared_distance(const point& from, const point& to) {
  return squared_distance(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
}

class nearest_tree {
 public:
  // The points must outlive the tree. There is at least one point, and no coordinate is NaN.
  explicit nearest_tree(std::span<const point> points)
      : points_(points), order_(points.size()), nodes_(1) {
    std::iota(order_.begin(), order_.end(), 0);
    build(0, 0, static_cast<int>(points.size()));
  }

  // The j != i at the smallest squared distance; the lowest of several; -1 if there is none.
  int nearest(int i) const {
    search s{i, points_[i]};
    visit(0, s);
    return s.best_j;
  }

 private:
  static constexpr int leaf_points = 8;

  struct node {
    point low, high;  // the box
    int begin, end;   // its points' positions in order_
    int first_index;  // the lowest index of its points
    int left = 0;     // its first child; the second one follows it. 0 marks a leaf.
  };

  struct search {
    int i;
    point from;
    float best = std::numeric_limits<float>::infinity();
    int best_j = -1;
  };

  void build(int number, int begin, int end) {
    const auto first = order_.begin() + begin, last = order_.begin() + end;
    node made{points_[*first], points_[*first], begin, end, *std::min_element(first, last)};
    for (auto at = first; at != last; ++at) {
      for (int axis = 0; axis < 3; ++axis) {
        made.low[axis] = std::min(made.low[axis], points_[*at][axis]);
        made.high[axis] = std::max(made.high[axis], points_[*at][axis]);
      }
    }
    int longest = 0;
    for (int axis = 1; axis < 3; ++axis) {
      if (made.high[axis] - made.low[axis] > made.high[longest] - made.low[longest]) longest = axis;
    }
    const bool is_leaf = end - begin <= leaf_points;
    if (!is_leaf) made.left = static_cast<int>(nodes_.size());
    nodes_[number] = made;
    if (is_leaf) return;
    nodes_.resize(nodes_.size() + 2);
    const int middle = begin + (end - begin) / 2;
    std::nth_element(first, order_.begin() + middle, last, [&](int a, int b) {
      return points_[a][longest] != points_[b][longest] ? points_[a][longest] < points_[b][longest]
                                                        : a < b;
    });
    build(made.left, begin, middle);
    build(made.left + 1, middle, end);
  }

  static float distance(const point& from, const node& box) {
    point gap;
    for (int axis = 0; axis < 3; ++axis) {
      gap[axis] = std::max({box.low[axis] - from[axis], from[axis] - box.high[axis], 0.0f});
    }
    return squared_distance(gap[0], gap[1], gap[2]);
  }

  static bool is_better(float d, int j, const search& s) {
    return d < s.best || (d == s.best && j < s.best_j);
  }

  void visit(int number, search& s) const {
    const node& here = nodes_[number];
    if (here.left == 0) {
      for (int k = here.begin; k < here.end; ++k) {
        const int j = order_[k];
        const float d = squared_distance(s.from, points_[j]);
        if (j != s.i && is_better(d, j, s)) {
          s.best = d;
          s.best_j = j;
        }
      }
      return;
    }
    const float left = distance(s.from, nodes_[here.left]);
    const float right = distance(s.from, nodes_[here.left + 1]);
    const int nearer = here.left + (right < left);
    for (const int child : {nearer, 2 * here.left + 1 - nearer}) {
      const float d = child == here.left ? left : right;
      if (is_better(d, nodes_[child].first_index, s)) visit(child, s);
    }
  }

  std::span<const point> points_;
  std::vector<int> order_;
  std::vector<node> nodes_;
};

}  // namespace stepwise
