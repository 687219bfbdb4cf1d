// neighbour baseline: nanoflann's k-d tree on the CPU. Building the tree is part of the time, and
// takes one thread before nanoflann 1.5. All threads search.
//
// watch   The result is exact: distances are the contract's, the lowest index of equal distances is
//         kept, and a search skips only points that are farther by more than any rounding.
//         nanoflann adds up the gaps to a box in the type of its distances, which is double here.
//         `sudo apt-get install libnanoflann-dev`, then `ninja -C build baselines` build this
//         baseline.
// source  J. L. Blanco, P. K. Rai, "nanoflann: a C++ header-only fork of FLANN" (2014).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nanoflann.hpp>

#include "common/cpu/cpu.hpp"
#include "common/cpu/thread_team.hpp"
#include "labs/neighbour/neighbour.hpp"

namespace {

constexpr std::size_t points_of_leaf = 10;  // nanoflann's own choice
constexpr std::int64_t searches = 4096;     // points that a thread takes at a time

struct points {
  const float* xyz;
  std::size_t count;

  std::size_t kdtree_get_point_count() const { return count; }
  float kdtree_get_pt(std::size_t i, std::size_t axis) const { return xyz[3 * i + axis]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

// The contract's distance.
struct contract_distance {
  using ElementType = float;
  using DistanceType = double;

  explicit contract_distance(const points& of) : data(of) {}

  double evalMetric(const float* from, std::uint32_t to, std::size_t) const {
    const float* const p = data.xyz + 3 * std::size_t{to};
    const float dx = p[0] - from[0], dy = p[1] - from[1], dz = p[2] - from[2];
    return std::fmaf(dz, dz, std::fmaf(dy, dy, dx * dx));
  }
  template <class A, class B>
  double accum_dist(const A& a, const B& b, std::size_t) const {
    return (double(a) - b) * (double(a) - b);
  }

  const points& data;
};

// The nearest other point so far; of equally near points, the one with the lowest index.
class nearest_other {
 public:
  using DistanceType = double;
  using IndexType = std::uint32_t;
  using CountType = std::size_t;

  explicit nearest_other(std::uint32_t from) : from_(from) {}

  // A search looks at points as near as this, and slightly beyond.
  double worstDist() const {
    return std::nextafter(best_ * (1 + 1e-6), std::numeric_limits<double>::infinity());
  }
  bool addPoint(double distance, std::uint32_t index) {
    if (index == from_ || distance > best_ || (distance == best_ && index > found_)) return true;
    best_ = distance;
    found_ = index;
    return true;
  }
  bool full() const { return true; }
  bool empty() const { return false; }
  void sort() {}  // newer versions call it
  CountType size() const { return 1; }
  int found() const { return static_cast<int>(found_); }  // -1 if there is none

 private:
  std::uint32_t from_, found_ = ~std::uint32_t{0};
  double best_ = std::numeric_limits<float>::max();  // no distance of the contract is infinite
};

using tree = nanoflann::KDTreeSingleIndexAdaptor<contract_distance, points, 3, std::uint32_t>;

#if NANOFLANN_VERSION >= 0x150
using search_settings = nanoflann::SearchParameters;
#else
using search_settings = nanoflann::SearchParams;
#endif

nanoflann::KDTreeSingleIndexAdaptorParams how_to_build() {
#if NANOFLANN_VERSION >= 0x150
  return {points_of_leaf, nanoflann::KDTreeSingleIndexAdaptorFlags::None,
          static_cast<unsigned>(stepwise::host::thread_count())};
#else
  return {points_of_leaf};
#endif
}

// The points' indices, leaf by leaf. Searches in this order find their branches in the caches. The
// member's name depends on nanoflann's version.
template <class Tree>
const auto& order_in(const Tree& made) {
  if constexpr (requires { made.vAcc_; }) {
    return made.vAcc_;
  } else {
    return made.vAcc;
  }
}

}  // namespace

void neighbour(const float* xyz, int* nearest, void*, int n) {
  const points all{xyz, static_cast<std::size_t>(n)};
  const tree made(3, all, how_to_build());
  const auto& order = order_in(made);
  stepwise::host::in_chunks((n + searches - 1) / searches, [&](std::int64_t part) {
    const std::int64_t end = std::min<std::int64_t>(n, (part + 1) * searches);
    for (std::int64_t k = part * searches; k < end; ++k) {
      const std::uint32_t i = order[static_cast<std::size_t>(k)];
      nearest_other search(i);
      made.findNeighbors(search, xyz + 3 * std::size_t{i}, search_settings());
      nearest[i] = search.found();
    }
  });
}
