// The nearest-neighbour lab's inputs, reference and comparison.
//
// idea    A size is n and the kind of data. Evenly spread points flatter every algorithm. Clusters,
//         a line and a single place do not, and they are full of ties. Distances are rounded as the
//         contract says, so there is one right answer, and the comparison is ==.
// tested  labs/neighbour/tests/problem_test.cpp; the mutants of tests/mutants.txt
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "common/lab/ceil_div.hpp"
#include "common/lab/in_bands.hpp"
#include "common/lab/points.hpp"
#include "common/lab/random.hpp"
#include "labs/neighbour/nearest_tree.hpp"
#include "labs/neighbour/neighbour.hpp"

namespace stepwise {
namespace {

constexpr float largest_coordinate = 1e18f;  // the contract's limit

// A multiple of 2^-24 in [0, 1).
float fraction(random_stream& random) { return static_cast<float>(random.next() >> 40) * 0x1p-24f; }

// An integer from 0 to count - 1.
std::size_t below(std::size_t count, random_stream& random) { return random.next() % count; }

// Fills a box whose sides have different lengths.
void spread(std::span<point> points, random_stream random) {
  for (point& p : points) {
    p = {fraction(random) - 1, 2 * fraction(random), 3 * fraction(random) - 1};
  }
}

// Clusters of different sizes and densities, and a few points away from all of them. Clusters lie
// on a fine lattice, so many distances are equal and some points coincide.
void cluster(std::span<point> points, random_stream random) {
  constexpr float lattice = 256, space = 64, far = 4;
  constexpr std::size_t one_outlier_in = 64;
  std::vector<point> centres(1 + std::size_t(std::sqrt(double(points.size())) / 2));
  for (point& c : centres) {
    for (float& coordinate : c) coordinate = space * fraction(random);
  }
  for (point& p : points) {
    const std::size_t which =
        std::min(below(centres.size(), random), below(centres.size(), random));
    const float radius = std::ldexp(1.0f, -static_cast<int>(which % 8));
    const float scale = below(one_outlier_in, random) == 0 ? far : 1;
    for (int axis = 0; axis < 3; ++axis) {
      const float offset = radius * (fraction(random) + fraction(random) - 1);
      p[axis] = std::round(lattice * (centres[which][axis] + offset)) / lattice * scale;
    }
  }
}

void put_in_one_place(std::span<point> points, random_stream random) {
  const point p = {fraction(random), -fraction(random), 2 + fraction(random)};
  std::fill(points.begin(), points.end(), p);
}

// Equally spaced points in random order. Each has two nearest points, except the two at the ends.
void line_up(std::span<point> points, random_stream random) {
  std::vector<int> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i, random)]);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float k = static_cast<float>(order[i]);
    points[i] = {3 * k + 1, -2 * k, k - 5};
  }
}

// Groups of a point and two others at the offsets that `draw` returns, in either order. Groups are
// so far apart that they do not meet.
template <class Draw>
void put_in_groups(std::span<point> points, random_stream& random, float apart, const Draw& draw) {
  const auto groups = (points.size() + 2) / 3;
  const auto side = 1 + static_cast<std::size_t>(std::cbrt(double(groups)));
  for (std::size_t i = 0; i < points.size(); i += 3) {
    const auto group = i / 3;
    const point centre = {apart * static_cast<float>(group % side),
                          apart * static_cast<float>(group / side % side),
                          apart * static_cast<float>(group / side / side)};
    const std::array<point, 2> offsets = draw();
    points[i] = centre;
    const std::size_t first = below(2, random);
    for (std::size_t k = 1; k < 3 && i + k < points.size(); ++k) {
      const point& offset = offsets[k == 1 ? first : 1 - first];
      for (int axis = 0; axis < 3; ++axis) points[i + k][axis] = centre[axis] + offset[axis];
    }
  }
}

// The two squared distances are D and D + 1, neighbours as floats, whose roots round to one float.
// All coordinates are integers, so both are exact.
void nearly_tie(std::span<point> points, random_stream random) {
  constexpr std::size_t shortest = 2897, width = 1000;  // sqrt(2^23) < shortest
  put_in_groups(points, random, 16384, [&]() -> std::array<point, 2> {
    float x, y, d;
    do {
      x = static_cast<float>(shortest + below(width, random));
      y = static_cast<float>(below(width / 2, random));
      d = x * x + y * y;
    } while (std::sqrt(d) != std::sqrt(d + 1));
    return {{{-x, -y, 0}, {x, y, 1}}};
  });
}

// The points are so far apart that an initial distance of 1e9 or 1e30 is below all distances.
void put_far_apart(std::span<point> points, random_stream random) {
  for (point& p : points) {
    for (float& coordinate : p) coordinate = largest_coordinate * (2 * fraction(random) - 1);
  }
}

// The two offsets have the same three lengths in another order. Their exact distances are equal, so
// the contract's rounding decides which one is nearer.
void tie_before_rounding(std::span<point> points, random_stream random) {
  constexpr std::size_t shortest = 1 << 16;  // squares have more bits than a float
  put_in_groups(points, random, 1 << 20, [&]() -> std::array<point, 2> {
    float a, b, c;
    do {
      for (float* const length : {&a, &b, &c})
        *length = static_cast<float>(shortest + below(shortest, random));
    } while (squared_distance(a, b, c) == squared_distance(b, c, a));
    return {{{a, b, c}, {-b, -c, -a}}};
  });
}

struct data_kind {
  const char* name;
  void (*fill)(std::span<point>, random_stream);
};
constexpr std::array<data_kind, 7> data_kinds = {{{"spread evenly", spread},
                                                  {"clustered", cluster},
                                                  {"all in one place", put_in_one_place},
                                                  {"on a line", line_up},
                                                  {"nearly tied", nearly_tie},
                                                  {"far apart", put_far_apart},
                                                  {"tied before rounding", tie_before_rounding}}};
constexpr std::size_t streams_per_point = 4;  // n and the kind choose the random numbers

std::vector<int> reference(std::span<const point> points) {
  constexpr std::int64_t search_bytes = 4096;  // takes as long as moving 4096 bytes
  const nearest_tree tree(points);
  std::vector<int> nearest(points.size());
  in_bands(std::ssize(nearest), search_bytes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) nearest[i] = tree.nearest(static_cast<int>(i));
  });
  return nearest;
}

std::string short_text(float value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(value));
  return text.data();
}

// True for one byte, repeated, which fills `nearest` before a call. -1 may be an answer.
bool is_left_as_it_was(int found) {
  const auto bits = static_cast<std::uint32_t>(found);
  return bits != 0 && ~bits != 0 && bits == (bits & 0xff) * 0x01010101u;
}

// Recognises common mistakes in a wrong result by trying them one by one.
class wrong_result {
 public:
  wrong_result(std::span<const point> points, std::span<const int> expected,
               std::span<const int> found)
      : points_(points), expected_(expected), found_(found) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] != expected[i]) wrong_.push_back(static_cast<int>(i));
    }
  }

  std::string first() const {
    const int i = wrong_.front();
    const std::string text = "nearest[" + std::to_string(i) + "] = " + std::to_string(found_[i]) +
                             ", expected " + std::to_string(expected_[i]);
    if (!is_index(found_[i]) || found_[i] == i || expected_[i] < 0) return text;
    return text + "; their squared distances are " + short_text(distance(i, found_[i])) + " and " +
           short_text(distance(i, expected_[i]));
  }

  std::string looks_like() const {
    for (const auto guess : {&wrong_result::some_bytes,
                             &wrong_result::not_written,
                             &wrong_result::itself,
                             &wrong_result::only_one_index,
                             &wrong_result::none,
                             &wrong_result::a_distance,
                             &wrong_result::low_bits,
                             &wrong_result::no_index,
                             &wrong_result::rounding,
                             &wrong_result::ties,
                             &wrong_result::same_root,
                             &wrong_result::other_pairs,
                             &wrong_result::rounded_away,
                             &wrong_result::one_answer,
                             &wrong_result::other_query,
                             &wrong_result::shared_best,
                             &wrong_result::modulo,
                             &wrong_result::without_the_last,
                             &wrong_result::without_the_first,
                             &wrong_result::other_distance,
                             &wrong_result::one_coordinate,
                             &wrong_result::tiles,
                             &wrong_result::some_points,
                             &wrong_result::lanes,
                             &wrong_result::elsewhere,
                             &wrong_result::renumbered,
                             &wrong_result::all_different,
                             &wrong_result::two_layouts,
                             &wrong_result::shared_coordinates,
                             &wrong_result::search_of_cells,
                             &wrong_result::cells}) {
      if (std::string text = (this->*guess)(); !text.empty()) return text;
    }
    const std::string text =
        of_all(wrong_.size()) + (wrong_.size() == 1 ? " is wrong" : " are wrong");
    if (wrong_.front() > 0 && wrong_are_last())
      return text + ", all from " + std::to_string(wrong_.front()) +
             " on: what differs in the last block? Do some threads return before a barrier?";
    if (n() <= 32) return text + ", " + no_known_pattern;
    return text +
           ", in no known pattern. If smaller n are right, look at what a larger n adds: with "
           "tiles, the second one (the index first + k, the place it is copied from, the "
           "barriers); with cells, the farther ones and the end of the search; with shuffles, the "
           "other lanes. Are x, y and z each read from their own place?";
  }

 private:
  // With fewer points, other mistakes have the same result.
  static constexpr std::size_t least_compared = 8, most_compared = 4096;
  static constexpr int most_of_tile = 1024;

  int n() const { return static_cast<int>(points_.size()); }
  bool is_index(int j) const { return j >= 0 && j < n(); }
  float distance(int i, int j) const { return squared_distance(points_[i], points_[j]); }
  bool are_few() const { return points_.size() <= most_compared; }
  bool are_comparable() const { return points_.size() >= least_compared && are_few(); }

  std::string of_all(std::size_t count) const {
    return std::to_string(count) + " of " + std::to_string(found_.size()) + " entries";
  }

  template <class Property>
  bool all_wrong(const Property& has) const {
    return std::all_of(wrong_.begin(), wrong_.end(), has);
  }

  template <class Property>
  bool everywhere(const Property& has) const {
    for (int i = 0; i < n(); ++i)
      if (!has(i)) return false;
    return true;
  }

  bool wrong_are_last() const { return wrong_.front() + std::ssize(wrong_) == n(); }

  // Only the first n bytes of the 4 n were written.
  std::string some_bytes() const {
    const auto bytes = std::as_bytes(found_);
    const auto last =
        std::find_if(bytes.rbegin(), bytes.rend(), [&](std::byte b) { return b != bytes.back(); });
    const std::size_t written = bytes.rend() - last;
    if (written != found_.size() || bytes.back() == std::byte{0} || bytes.back() == std::byte{255})
      return "";
    const std::string some =
        written == 1 ? "byte was written" : std::to_string(written) + " bytes were written";
    return "only the first " + some + ", of " + std::to_string(bytes.size()) +
           ": a size is in bytes, n * sizeof(int)";
  }

  // A question about the type of an index that does not reach `first`.
  static std::string if_narrow(int first) {
    const bool in_char = first == 1 << 7 || first == 1 << 8;
    if (!in_char && first != 1 << 15 && first != 1 << 16) return "";
    return std::string(", and is every index wider than a ") + (in_char ? "char" : "short");
  }

  // True if the blocks end at `from` because each block begins only as many points after the one
  // before as it has threads, although a thread searches for several points.
  bool overlap(int from) const {
    for (int block = most_of_tile; block >= 128; block /= 2) {
      for (const int queries : {2, 4, 8}) {
        const int blocks = ceil_div(n(), queries * block);
        if (n() - from >= block && blocks > 1 && from == (blocks - 1 + queries) * block)
          return true;
      }
    }
    return false;
  }

  std::string not_written() const {
    const auto untouched = [&](int i) { return is_left_as_it_was(found_[i]); };
    const auto count =
        static_cast<std::size_t>(std::count_if(wrong_.begin(), wrong_.end(), untouched));
    if (count == found_.size()) {
      return std::string(
                 "these are the bytes that filled nearest before the call: nothing was written to "
                 "it") +
             (n() == 1
                  ? " - is the kernel that stores the answers launched, and does the guard let "
                    "i = 0 pass?"
                  : "");
    }
    if (count == 0) return "";
    std::string text = of_all(count) + (count == 1 ? " was not written" : " were not written");
    const std::size_t from = found_.size() - count;
    const bool at_the_end = std::all_of(found_.begin() + from, found_.end(), is_left_as_it_was);
    if (at_the_end) text += ", all from " + std::to_string(from) + " on";
    if (count < wrong_.size()) {
      const auto others = wrong_.size() - count;
      text += ", and " + std::to_string(others) + (others == 1 ? " other is" : " others are") +
              " wrong: does each thread store to the index of its own point";
      text += from == 1 ? " (with build_grid(), __float_as_int(p.w); int(p.w) is 0)?" : "?";
    } else if (at_the_end && from < 32) {
      text += ". Does every point have a thread: <<<number of blocks, threads per block>>>?";
    } else if (at_the_end) {
      const std::string narrow = if_narrow(static_cast<int>(from));
      text += " - does the grid round up, " + std::string(narrow.empty() ? "and " : "") +
              "is the block's number in the index" + narrow + "?";
      if (overlap(static_cast<int>(from)))
        text +=
            " If a thread searches for several points, is blockIdx.x multiplied by all points "
            "of a block?";
    }
    return text;
  }

  std::string itself() const {
    if (!all_wrong([&](int i) { return found_[i] == i; })) return "";
    if (expected_[0] < 0)
      return "that is the point itself: begin best_j at -1, and skip j == i, so that neither best "
             "nor "
             "best_j changes (a single point has no neighbour: the answer is -1)";
    const int from = wrong_.front();
    if (from >= 32 && wrong_are_last())
      return "that is the point itself, for every i from " + std::to_string(from) +
             " on and for none before: compare j with i, not with an index in a block or a tile";
    if (are_comparable() && wrong_.size() == found_.size())
      return "every answer is the point itself: is j == i skipped, and is best_j set to j?";
    return "that is the point itself, in " + of_all(wrong_.size()) +
           ": the nearest of the others is wanted, even if it is in the same place";
  }

  // One index is found for all points but itself, which finds none.
  std::string only_one_index() const {
    const int only = found_[found_[0] < 0 && n() > 1 ? 1 : 0];
    if (points_.size() < least_compared || !is_index(only)) return "";
    if (!everywhere([&](int i) { return found_[i] == (i == only ? -1 : only); })) return "";
    return "every point finds " + std::to_string(only) +
           ", which itself finds none, as if all points had this index: is j set for each point"
           " that is compared" +
           (only == 0 ? " (with build_grid(), j is __float_as_int(q.w); int(q.w) is 0)?" : "?");
  }

  std::string none() const {
    if (!all_wrong([&](int i) { return found_[i] == -1; })) return "";
    const auto to_nearest = [&](int i) { return distance(i, expected_[i]); };
    float least = std::numeric_limits<float>::infinity();
    for (const int i : wrong_) least = std::min(least, to_nearest(i));
    if (wrong_.size() == found_.size())
      return "every answer is -1, and no squared distance is below " + short_text(least) +
             ": does best begin at INFINITY, and does a smaller distance replace best and best_j? "
             "With tiles, does the loop reach a tile that is not full" +
             (n() < most_of_tile ? ", as with " + std::to_string(n()) +
                                       " points (first < n, not first + tile <= n)"
                                 : std::string()) +
             "? With cells, does the search begin with the cell of the point, take x, y and z in "
             "this order, and continue to the last ring?";
    if (std::string pairs = other_pairs(); !pairs.empty()) return pairs;
    const std::string text = "no neighbour was found for " + of_all(wrong_.size());
    if (are_comparable() &&
        everywhere([&](int i) { return found_[i] == -1 || to_nearest(i) < least; }))
      return text + ", those whose nearest point is at a squared distance of " + short_text(least) +
             " or more: does best begin at INFINITY, and does the search continue until it finds "
             "one?";
    const int i = wrong_.front();
    return text + ": does the search for point " + std::to_string(i) + " reach point " +
           std::to_string(expected_[i]) + ", and every other point, whatever i is?";
  }

  // The squared distance as an int. If there is no other point, infinity as an int.
  std::string a_distance() const {
    const auto as_int = [&](int i) {
      constexpr int most = std::numeric_limits<int>::max();
      if (expected_[i] < 0) return most;
      const float d = distance(i, expected_[i]);
      return d < 0x1p31f ? static_cast<int>(d) : most;
    };
    if (!everywhere([&](int i) { return found_[i] == as_int(i); })) return "";
    if (std::all_of(found_.begin(), found_.end(), [](int j) { return j == 0; })) return "";
    return expected_[0] < 0 ? "that is what infinity becomes as an int: is the distance stored "
                              "instead of the index? A single point's answer is -1"
                            : "these are the smallest squared distances: store the index, best_j";
  }

  // The right indices in a signed type of 8 or 16 bits. modulo() finds unsigned types.
  std::string low_bits() const {
    const auto all_are = [&](auto narrow) {
      return everywhere(
          [&](int i) { return found_[i] == static_cast<decltype(narrow)>(expected_[i]); });
    };
    for (const int bits : {8, 16}) {
      if (expected_[0] == -1 && found_[0] == (1 << bits) - 1)
        return "that is what -1 becomes in an unsigned " +
               std::string(bits == 8 ? "char" : "short") + ": keep an index in an int";
    }
    const int bits = all_are(std::int8_t{}) ? 8 : all_are(std::int16_t{}) ? 16 : 0;
    if (bits == 0) return "";
    return "these are the low " + std::to_string(bits) +
           " bits of the right indices: keep an index in an int";
  }

  std::string no_index() const {
    const auto bad = [&](int i) { return found_[i] != -1 && !is_index(found_[i]); };
    const auto count = std::count_if(wrong_.begin(), wrong_.end(), bad);
    if (count == 0) return "";
    const std::string text =
        of_all(count) + (count == 1 ? " is not the index of a point" : " are not point indices");
    const int most = *std::max_element(found_.begin(), found_.end());
    if (!all_wrong([&](int i) { return found_[i] >= n(); }) || most >= 2 * n() + most_of_tile)
      return text;
    return text + ", but " + std::to_string(n()) +
           " or a little more: does the loop over j, or over the last tile, stop at n? Places of a "
           "tile after the last point must not be compared, even if they hold 0.";
  }

  std::string ties() const {
    const auto as_near = [&](int i) {
      return is_index(found_[i]) && found_[i] != i &&
             distance(i, found_[i]) == distance(i, expected_[i]);
    };
    if (!all_wrong(as_near)) return "";
    return of_all(wrong_.size()) +
           " are as near as the expected ones, but of several points at the same distance the one "
           "with the lowest index counts";
  }

  std::string same_root() const {
    const auto root = [&](int i, int j) { return std::sqrt(distance(i, j)); };
    if (!all_wrong([&](int i) {
          return is_index(found_[i]) && found_[i] != i &&
                 root(i, found_[i]) == root(i, expected_[i]);
        }))
      return "";
    return of_all(wrong_.size()) +
           " are farther than the expected ones, but their roots are the same float: compare "
           "squared distances, without sqrtf";
  }

  // The found points are farther by no more than the error of rounding the squares of coordinates.
  std::string rounded_away() const {
    const auto square = [&](int i) {
      return squared_distance(points_[i][0], points_[i][1], points_[i][2]);
    };
    if (!all_wrong([&](int i) {
          if (!is_index(found_[i]) || found_[i] == i || expected_[i] < 0) return false;
          const float squares = square(i) + square(found_[i]) + square(expected_[i]);
          return distance(i, found_[i]) - distance(i, expected_[i]) <= 0x1p-21f * squares;
        }))
      return "";
    return of_all(wrong_.size()) +
           " are hardly farther than the expected ones: subtract the coordinates before you "
           "square "
           "the differences, with the contract's operations";
  }

  // All points have the same answer, except the point that is this answer.
  // A thread searches for several points, and stores the answer of one of them for another.
  std::string other_query() const {
    // A few answers may be those of other points by chance, unless they are those of a last block.
    const bool are_of_block = wrong_are_last() && wrong_.front() >= 32;
    if (points_.size() < least_compared || (wrong_.size() < 4 && !are_of_block)) return "";
    for (const int side_by_side : {1, 0}) {
      for (const int queries : {2, 4, 8}) {
        for (int block = most_of_tile; block >= 32; block /= 2) {
          for (int q = 0; q < queries; ++q) {
            // The point whose answer point i gets if the answer for query q is stored for all
            // points of a thread.
            const auto source = [&](int i) {
              return side_by_side == 1
                         ? i / queries * queries + q
                         : i / (block * queries) * (block * queries) + q * block + i % block;
            };
            if (!all_wrong([&](int i) {
                  return source(i) < n() && source(i) != i && found_[i] == expected_[source(i)];
                }))
              continue;
            const int i = wrong_.front();
            return "nearest[" + std::to_string(i) + "] is the answer for point " +
                   std::to_string(source(i)) + ", not for point " + std::to_string(i) +
                   ": if a thread searches for several points, does it store the answer of each "
                   "one, best_j[q] for point q?";
          }
          if (side_by_side == 1) break;  // the block does not matter
        }
      }
    }
    return "";
  }

  // The points for which a thread searches share the smallest distance so far.
  std::string shared_best() const {
    if (!are_comparable()) return "";
    for (const int queries : {2, 4, 8}) {
      for (int block = most_of_tile; block >= 32; block /= 2) {
        for (const int apart : {block, 1}) {
          if (apart == 1 && block != 32) continue;
          if (!is_shared_best(queries, block, apart)) continue;
          return "this happens if the points for which a thread searches share one smallest "
                 "distance: "
                 "does each have its own best, and its own best_j?";
        }
      }
    }
    return "";
  }

  // Some coordinates of a point, or all, are those of the thread's first point.
  std::string shared_coordinates() const {
    if (!are_comparable() || wrong_.front() < 32) return "";
    for (const int queries : {2, 4, 8}) {
      for (int block = most_of_tile; block >= 32; block /= 2) {
        const auto source = [&](int i) {
          return i / (block * queries) * (block * queries) + i % block;
        };
        for (int axis = 0; axis <= 3; ++axis) {  // 3: all of them
          const auto is_nearest = [&](int i) {
            point from = points_[i];
            for (int a = 0; a < 3; ++a)
              if (axis == a || axis == 3) from[a] = points_[source(i)][a];
            int best_j = -1;
            float best = std::numeric_limits<float>::infinity();
            for (int j = 0; j < n(); ++j) {
              const float d = squared_distance(from, points_[j]);
              if (j == i || !(d < best)) continue;
              best = d;
              best_j = j;
            }
            return found_[i] == best_j;
          };
          const int i = wrong_.front();
          if (source(i) == i || !is_nearest(i) || !everywhere(is_nearest)) continue;
          return "this happens if " +
                 (axis == 3 ? std::string("the coordinates") : std::string(1, "xyz"[axis])) +
                 " of point " + std::to_string(i) + (axis == 3 ? " are those" : " is that") +
                 " of point " + std::to_string(source(i)) +
                 ": does the index include the block's number, and the point's number q if a "
                 "thread "
                 "searches for several?";
        }
      }
    }
    return "";
  }

  // `apart` is the distance between the indices of a thread's points.
  bool is_shared_best(int queries, int block, int apart) const {
    const int threads = ceil_div(n(), block * queries) * block;
    for (int t = 0; t < threads; ++t) {
      const int first = apart == 1 ? t * queries : t / block * block * queries + t % block;
      if (first >= n()) continue;
      float best = std::numeric_limits<float>::infinity();
      std::vector<int> best_j(queries, -1);
      for (int j = 0; j < n(); ++j) {
        for (int q = 0; q < queries; ++q) {
          const int i = first + q * apart;
          // Beyond the end, a thread searches for the last point.
          const float d = distance(std::min(i, n() - 1), j);
          if (j == i || !(d < best)) continue;
          best = d;
          best_j[q] = j;
        }
      }
      for (int q = 0; q < queries && first + q * apart < n(); ++q)
        if (found_[first + q * apart] != best_j[q]) return false;
    }
    return true;
  }

  std::string one_answer() const {
    if (points_.size() < least_compared) return "";
    const int last = n() - 1;
    if (everywhere([&](int i) { return found_[i] == (i == 0 ? 1 : 0); }))
      return "every answer is the first of the other points, as if none were nearer: are the right "
             "coordinates read, and written before they are read?";
    if (everywhere([&](int i) { return found_[i] == (i == last ? last - 1 : last); }))
      return "every answer is the last of the other points: is the smallest distance so far kept?";
    if (everywhere([&](int i) { return found_[i] == found_[0]; }))
      return "every answer is " + std::to_string(found_[0]) + ": is best_j set to j?";
    return "";
  }

  // The index within a tile. A tile that is overwritten while it is read can look the same.
  std::string modulo() const {
    const int f = found_[wrong_.front()];
    if (f < 0 || points_.size() < least_compared) return "";
    const int difference = expected_[wrong_.front()] - f;
    for (int tile = difference; tile > std::max(f, 1); --tile) {
      if (difference % tile != 0) continue;
      if (!everywhere([&](int i) { return found_[i] == expected_[i] % tile; })) continue;
      return "these are the right indices modulo " + std::to_string(tile) +
             ": is the tile's first index added" +
             (tile == 256 || tile == 65536 ? ", and is an index an int everywhere?"
                                           : ", and is there a barrier before the tile changes?");
    }
    return "";
  }

  // The nearest of the points from `begin` to `end`, by brute force.
  int nearest_of(int i, int begin, int end) const {
    int best_j = -1;
    for (int j = begin; j < end; ++j) {
      if (j != i && (best_j < 0 || distance(i, j) < distance(i, best_j))) best_j = j;
    }
    return best_j;
  }

  // No point from some index on is ever found. All points up to the highest index that was found
  // must have been compared.
  std::string without_the_last() const {
    int last = n();
    for (const int i : wrong_) last = std::min(last, expected_[i]);
    const int end = *std::max_element(found_.begin(), found_.end()) + 1;
    if (end > last) return "";
    if (are_few() && !all_wrong([&](int i) { return found_[i] == nearest_of(i, 0, end); }))
      return "";
    return "no point from " + std::to_string(last) +
           " on is ever found: are the last points compared and copied from the right place, even "
           "if "
           "n is not a multiple of the tile" +
           if_narrow(last) + "?" +
           (end <= 32 && last >= 32
                ? " If the 32 lanes of a warp share a point, does j advance by 32?"
                : "");
  }

  // The points before some index are never found, even where they are nearest.
  std::string without_the_first() const {
    if (!are_comparable()) return "";
    int begin = n();
    for (const int i : wrong_) begin = std::min(begin, found_[i]);
    if (begin <= 0 || !all_wrong([&](int i) { return found_[i] == nearest_of(i, begin, n()); }))
      return "";
    return of_all(wrong_.size()) + " are the nearest of the points from " + std::to_string(begin) +
           " on: does the search forget earlier points, or begin again with each tile?";
  }

  using measure = std::function<double(int, int)>;
  static constexpr double never = std::numeric_limits<double>::infinity();

  // The first point at the smallest distance by this measure.
  int nearest_by(const measure& measured, int i) const {
    double best = never;
    int best_j = -1;
    for (int j = 0; j < n(); ++j) {
      if (j == i) continue;
      if (const double d = measured(i, j); d < best) {
        best = d;
        best_j = j;
      }
    }
    return best_j;
  }

  // The first mistake whose measure gives exactly this result.
  std::string first_of(std::initializer_list<std::pair<const char*, measure>> mistakes) const {
    if (!are_comparable()) return "";
    for (const auto& [name, measured] : mistakes) {
      if (everywhere([&](int i) { return found_[i] == nearest_by(measured, i); }))
        return std::string("this happens if ") + name;
    }
    return "";
  }

  // Distances that differ from the contract's only in the last bits.
  std::string rounding() const {
    const auto sum_of = [&](auto add) {
      return [this, add](int i, int j) {
        const point &p = points_[i], &q = points_[j];
        return static_cast<double>(add(q[0] - p[0], q[1] - p[1], q[2] - p[2]));
      };
    };
    const char* const order =
        "the squares are added in another order; the contract computes "
        "fmaf(dz, dz, fmaf(dy, dy, dx * dx))";
    const auto fused = [](float x, float y, float z) { return squared_distance(x, y, z); };
    return first_of({
        {"distances are not rounded to float; the contract computes them in float",
         sum_of([](double x, double y, double z) { return x * x + y * y + z * z; })},
        {"products are rounded before they are added; the contract computes "
         "fmaf(dz, dz, fmaf(dy, dy, dx * dx))",
         sum_of([](float x, float y, float z) {
           volatile float xx = x * x, yy = y * y, zz = z * z;  // not fused here
           return xx + yy + zz;
         })},
        {order, sum_of([=](float x, float y, float z) { return fused(x, z, y); })},
        {order, sum_of([=](float x, float y, float z) { return fused(y, x, z); })},
        {order, sum_of([=](float x, float y, float z) { return fused(y, z, x); })},
        {order, sum_of([=](float x, float y, float z) { return fused(z, x, y); })},
        {order, sum_of([=](float x, float y, float z) { return fused(z, y, x); })},
    });
  }

  // The contract's distance, but not of all pairs.
  std::string other_pairs() const {
    const auto pairs = [this](auto takes) {
      return [this, takes](int i, int j) { return takes(i, j) ? distance(i, j) : never; };
    };
    return first_of({
        {"only points after point i are compared: j begins at 0, whatever i is",
         pairs([](int i, int j) { return j > i; })},
        {"only points before point i are compared: j ends at n - 1, whatever i is",
         pairs([](int i, int j) { return j < i; })},
        {"point 0 is left out: j begins at 0", pairs([](int, int j) { return j != 0; })},
        {"points in the same place are skipped: skip j == i, not a distance of 0",
         pairs([this](int i, int j) { return distance(i, j) > 0; })},
    });
  }

  // The lanes of a warp share a point: lane k compares the points k, k + 32, k + 64, ..., and a
  // reduction by shuffles omits some of the offsets.
  std::string lanes() const {
    if (!are_comparable() || n() <= 32) return "";
    for (int omitted = 1; omitted < 32; ++omitted) {
      if (!everywhere([&](int i) {
            return found_[i] ==
                   nearest_by([&](int from,
                                  int j) { return (j & omitted) == 0 ? distance(from, j) : never; },
                              i);
          }))
        continue;
      if (omitted == 1 || omitted == 31) return only_every(omitted + 1, 0);
      return "this happens if the points j with (j & " + std::to_string(omitted) +
             ") != 0 are left out: if the lanes of a warp share a point, do the shuffles move best "
             "by 16, 8, 4, 2 and 1? With tiles, are all points of a tile copied and compared?";
    }
    return "";
  }

  static std::string only_every(int step, int first) {
    return "only every " + std::to_string(step) +
           (step % 10 == 2   ? "nd"
            : step % 10 == 3 ? "rd"
                             : "th") +
           " point is ever found, such as " + std::to_string(first) +
           ": does j, or the index in a tile, advance by 1?" +
           (step == 32 ? " If the lanes of a warp share a point, does every shuffle that moves "
                         "best also move best_j?"
                       : "");
  }

  // Only points whose indices are a regular distance apart are ever found.
  std::string some_points() const {
    if (!are_comparable() || !everywhere([&](int i) { return is_index(found_[i]); })) return "";
    int step = 0;
    for (const int j : found_) step = std::gcd(step, j - found_[0]);
    if (step < 2 || 8 * step > n()) return "";
    return only_every(step, found_[0]);
  }

  // The result of another distance, or of coordinates read from another place.
  std::string other_distance() const {
    if (!are_comparable()) return "";
    const float* const f = points_[0].data();
    const int n = this->n();
    const auto shifted = [=](int j) { return point{f[j], f[j + 1], f[j + 2]}; };
    const auto in_arrays = [=](int j) { return point{f[j], f[n + j], f[2 * n + j]}; };
    const auto without = [this](int axis) {
      return [this, axis](int i, int j) {
        point from = points_[i], to = points_[j];
        from[axis] = to[axis] = 0;
        return squared_distance(from, to);
      };
    };
    // One of the squares is the product of two different differences.
    const auto product_of = [this](int axis, int other) {
      return [this, axis, other](int i, int j) {
        const point &p = points_[i], &q = points_[j];
        const auto by = [&](int a) {
          const int b = a == axis ? other : a;
          return std::pair(q[a] - p[a], q[b] - p[b]);
        };
        const auto [x, x2] = by(0);
        const auto [y, y2] = by(1);
        const auto [z, z2] = by(2);
        return std::fmaf(z, z2, std::fmaf(y, y2, x * x2));
      };
    };
    return first_of({
        {"xyz is read as all x, then all y, then all z; it holds point after point",
         [&](int i, int j) { return squared_distance(in_arrays(i), in_arrays(j)); }},
        {"point j is read at xyz[j], xyz[n + j], xyz[2 * n + j]; it is at xyz[3 * j] and the next "
         "two",
         [&](int i, int j) { return squared_distance(points_[i], in_arrays(j)); }},
        {"point i is read at xyz[i], xyz[n + i], xyz[2 * n + i]; it is at xyz[3 * i] and the next "
         "two",
         [&](int i, int j) { return squared_distance(in_arrays(i), points_[j]); }},
        {"point j is read at xyz[j], xyz[j + 1], xyz[j + 2]; it begins at xyz[3 * j]",
         [&](int i, int j) { return squared_distance(points_[i], shifted(j)); }},
        {"point i is read at xyz[i], xyz[i + 1], xyz[i + 2]; it begins at xyz[3 * i]",
         [&](int i, int j) { return squared_distance(shifted(i), points_[j]); }},
        {"points i and j are read at xyz[i] and xyz[j]; they begin at xyz[3 * i] and xyz[3 * j]",
         [&](int i, int j) { return squared_distance(shifted(i), shifted(j)); }},
        {"x is left out: is it read, and was it set before that?", without(0)},
        {"y is left out: is it read, and was it set before that?", without(1)},
        {"z is left out: is it read, and was it set before that?", without(2)},
        {"|dx| + |dy| + |dz| is compared; square the differences",
         [&](int i, int j) {
           const point &p = points_[i], &q = points_[j];
           return std::abs(q[0] - p[0]) + std::abs(q[1] - p[1]) + std::abs(q[2] - p[2]);
         }},
        {"dx + dy + dz is compared; square the differences",
         [&](int i, int j) {
           const point &p = points_[i], &q = points_[j];
           return (q[0] - p[0]) + (q[1] - p[1]) + (q[2] - p[2]);
         }},
        {"dx * dy is added in place of dx * dx", product_of(0, 1)},
        {"dx * dz is added in place of dx * dx", product_of(0, 2)},
        {"dy * dx is added in place of dy * dy", product_of(1, 0)},
        {"dy * dz is added in place of dy * dy", product_of(1, 2)},
        {"dz * dx is added in place of dz * dz", product_of(2, 0)},
        {"dz * dy is added in place of dz * dz", product_of(2, 1)},
        {"the farthest point is kept: a distance replaces best if it is smaller",
         [&](int i, int j) { return -distance(i, j); }},
        {"distances lose their fractions: keep best in a float",
         [&](int i, int j) { return std::trunc(distance(i, j)); }},
        {"differences lose their fractions: keep dx, dy and dz in floats",
         [&](int i, int j) {
           const point &p = points_[i], &q = points_[j];
           return squared_distance(std::trunc(q[0] - p[0]), std::trunc(q[1] - p[1]),
                                   std::trunc(q[2] - p[2]));
         }},
    });
  }

  // One coordinate is read from another place: in point i, in point j, or in both. Or two
  // coordinates of one of the points are exchanged.
  std::string one_coordinate() const {
    for (const auto& [a, b] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
      const auto exchanged = [this, a = a, b = b](int i) {
        point p = points_[i];
        std::swap(p[a], p[b]);
        return p;
      };
      const std::string name = std::string(1, "xyz"[a]) + " and " + "xyz"[b] +
                               " are exchanged in one of the two points that are compared: are "
                               "both read in the order x, y, z?";
      if (std::string text = first_of(
              {{name.c_str(),
                [&](int i, int j) { return squared_distance(exchanged(i), points_[j]); }},
               {name.c_str(),
                [&](int i, int j) { return squared_distance(points_[i], exchanged(j)); }}});
          !text.empty())
        return text;
    }
    const float* const f = points_[0].data();
    for (int axis = 0; axis < 3; ++axis) {
      const std::string plus = axis == 0 ? "" : " + " + std::to_string(axis);
      for (int from = 0; from < 4; ++from) {  // another axis; 3: xyz[i + axis]
        if (from == axis) continue;
        const auto misread = [=, this](int i) {
          point p = points_[i];
          p[axis] = from < 3 ? p[from] : f[i + axis];
          return p;
        };
        const std::pair<std::string, measure> readers[] = {
            {"point j", [&](int i, int j) { return squared_distance(points_[i], misread(j)); }},
            {"point i", [&](int i, int j) { return squared_distance(misread(i), points_[j]); }},
            {"every point i",
             [&](int i, int j) { return squared_distance(misread(i), misread(j)); }}};
        for (const auto& [who, measured] : readers) {
          const std::string at = who.substr(who.size() - 1);
          const std::string name =
              std::string("the ") + "xyz"[axis] + " of " + who + " is " +
              (from < 3 ? std::string("its ") + "xyz"[from]
                        : "xyz[" + at + plus + "], not xyz[3 * " + at + plus + "]") +
              ": is it read and copied from the right place?";
          if (std::string text = first_of({{name.c_str(), measured}}); !text.empty()) return text;
        }
      }
    }
    return "";
  }

  // Mistakes with tiles of 32, 64, ... 1024 points.
  std::string tiles() const {
    if (!are_comparable()) return "";
    const auto comes_from = [&](auto measured) {
      return [this, measured](int i) { return found_[i] == nearest_by(measured, i); };
    };
    for (int tile = most_of_tile; tile >= 32; tile /= 2) {
      if (tile >= n()) continue;
      const std::string size = std::to_string(tile);
      if (everywhere(comes_from([&](int i, int j) { return distance(i, j % tile); })))
        return "this happens if every tile of " + size +
               " points is a copy of the first one: copy from first + k";
      for (int axis = 0; axis < 3; ++axis) {
        if (everywhere(comes_from([&](int i, int j) {
              point p = points_[j];
              p[axis] = points_[j % tile][axis];
              return squared_distance(points_[i], p);
            })))
          return std::string("this happens if the ") + "xyz"[axis] + " of every tile of " + size +
                 " points is a copy of the first tile's: copy it from first + k, too";
      }
      if (everywhere(comes_from(
              [&](int i, int j) { return j / tile == i / tile ? distance(i, j) : never; })))
        return "this happens if a block compares only its own " + size +
               " points: let it loop over all tiles";
      if (everywhere(comes_from(
              [&](int i, int j) { return j % tile == i % tile ? never : distance(i, j); })))
        return "this happens if point i skips a point in each tile of " + size +
               ", not only itself: compare first + k with i, not k";
      if (everywhere(comes_from([&](int i, int j) { return distance(i % tile, j); })))
        return "this happens if point i is read at i % " + size +
               ", the index of its thread in a block: is blockIdx.x in the index?";
      // If a last point is mistaken for a point of the first tile, the result looks the same.
      const bool is_other = !all_wrong([&](int i) { return found_[i] + tile == i; });
      if (is_other && n() <= 2 * tile && all_wrong(comes_from([&](int i, int j) {
            return distance(i, j + tile < n() ? j + tile : j);
          })))
        return of_all(wrong_.size()) + " are as if the tile that begins at " + size +
               " were copied while the first one is still read: is there a barrier at the end of "
               "the loop over tiles?";
    }
    if (all_wrong(
            comes_from([&](int i, int j) { return j / 32 <= i / 32 ? distance(i, j) : never; })))
      return of_all(wrong_.size()) +
             " miss the points that later warps copy: is there a barrier between the copy into "
             "the tile and the loop that reads it?";
    return "";
  }

  // The right answers in another order.
  std::string elsewhere() const {
    if (points_.size() < least_compared || 2 * wrong_.size() < points_.size()) return "";
    std::vector<int> found(found_.begin(), found_.end()), right(expected_.begin(), expected_.end());
    std::ranges::sort(found);
    std::ranges::sort(right);
    if (found != right) return "";
    return "these are the right answers in other places: is each one stored at the index of its "
           "own point, even after sorting?";
  }

  // Each right answer is replaced by one other number, as if the points were numbered differently.
  std::string renumbered() const {
    if (2 * wrong_.size() < points_.size()) return "";
    std::map<int, int> number, back;
    for (int i = 0; i < n(); ++i) {
      if (number.try_emplace(expected_[i], found_[i]).first->second != found_[i]) return "";
      if (back.try_emplace(found_[i], expected_[i]).first->second != expected_[i]) return "";
    }
    if (points_.size() - number.size() < least_compared) return "";
    return "these are the right neighbours, numbered in another order: is the position after "
           "sorting stored instead of the index?";
  }

  // Nearly every index is found once. Of many points, several share a nearest one.
  std::string all_different() const {
    if (n() < 32) return "";
    std::vector<int> found(found_.begin(), found_.end());
    std::ranges::sort(found);
    if (!is_index(found.front()) || !is_index(found.back())) return "";
    if (everywhere([&](int i) { return i == 0 || found_[i] - found_[i - 1] == 1; })) return "";
    const auto repeated = std::ranges::unique(found);
    if (16 * std::ssize(repeated) > n()) return "";
    return "nearly every index is found once, as if each point found itself, numbered in another "
           "order: are the indices that sorting keeps with the points compared and stored, and not "
           "the positions after sorting?";
  }

  // Points are read from one array of structures and from three arrays, mixed up.
  std::string two_layouts() const {
    if (!are_comparable()) return "";
    const int n = this->n();
    std::vector<float> apart(3 * points_.size());  // all x, then all y, then all z
    for (int i = 0; i < n; ++i)
      for (int axis = 0; axis < 3; ++axis) apart[axis * n + i] = points_[i][axis];
    const float* const f = apart.data();
    const auto together = [=](int j) { return point{f[3 * j], f[3 * j + 1], f[3 * j + 2]}; };
    const auto whole = [this](int j) { return points_[j]; };
    const std::string layout =
        " at 3 * i, 3 * i + 1 and 3 * i + 2 of the array of all x, which all y and all z follow: "
        "with three arrays, read x[i], y[i] and z[i]";
    const auto with = [&](const auto& own, const auto& other) {
      return everywhere([&](int i) {
        return found_[i] ==
               nearest_by([&](int a, int b) { return squared_distance(own(a), other(b)); }, i);
      });
    };
    if (with(together, together)) return "this happens if every point i is read" + layout;
    if (with(together, whole)) return "this happens if a thread's own point is read" + layout;
    if (with(whole, together)) return "this happens if each other point is read" + layout;
    return "";
  }

  // A search through the cells of build_grid(), ring by ring, with at most one mistake.
  struct cell_search {
    std::array<int, 3> low = {1, 1, 1}, high = {1, 1, 1};  // rings that an axis goes down and up
    std::array<int, 3> less_low{}, less_high{};            // cells that are left out at its ends
    bool exchanges_y_and_z = false, ends_with_a_point = false;
    int first_ring = 0, rings = std::numeric_limits<int>::max(), too_early = 0;
    bool counts_in_grid = false;  // less_low and less_high count from the ends that the grid has
    bool is_shell = false;        // a ring has no cells of the rings inside it
    // In a shell, a row of cells that lies inside a ring has two cells, and others are whole.
    bool no_left = false, no_right = false, one_of_whole_row = false;
  };

  // The cells that build_grid() makes, for as many points as there are.
  class cell_grid {
   public:
    explicit cell_grid(std::span<const point> points) : points_(points), corner_(points[0]) {
      point high = points[0];
      for (const point& p : points) {
        for (int axis = 0; axis < 3; ++axis) {
          corner_[axis] = std::min(corner_[axis], p[axis]);
          high[axis] = std::max(high[axis], p[axis]);
        }
      }
      float largest = 1e-30f;
      for (int axis = 0; axis < 3; ++axis) largest = std::max(largest, high[axis] - corner_[axis]);
      const auto most = static_cast<double>(points.size() / 2 + 1);
      float width = 2 * largest;
      width_ = width;
      for (int trial = 0; trial < 64; ++trial) {
        width *= 0.8f;
        double all = 1;
        std::array<int, 3> cells{};
        for (int axis = 0; axis < 3 && all <= most; ++axis) {
          const double count = 1 + std::floor(double((high[axis] - corner_[axis]) * (1 / width)));
          all *= count;
          if (all <= most) cells[axis] = static_cast<int>(count);
        }
        if (all > most) break;
        width_ = width;
        cells_ = cells;
      }
      members_.resize(cells_[0] * cells_[1] * cells_[2]);
      for (int i = 0; i < static_cast<int>(points.size()); ++i) {
        const auto c = cell_of(i);
        members_[number(c[0], c[1], c[2])].push_back(i);
      }
    }
    // The cell of j, counted from the cell of i.
    std::array<int, 3> step(int i, int j) const {
      const auto from = cell_of(i), to = cell_of(j);
      return {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    }
    int ring(int i, int j) const {
      const auto d = step(i, j);
      return std::max({std::abs(d[0]), std::abs(d[1]), std::abs(d[2])});
    }
    bool is_one_cell() const { return members_.size() == 1; }

    // The answer of this search for point i.
    int nearest(int i, const cell_search& s) const {
      const auto own = cell_of(i);
      const auto begin = [&](int axis, int r) {
        const int at = own[axis] - s.low[axis] * r, less = s.less_low[axis];
        return axis == 0          ? at + less
               : s.counts_in_grid ? std::max(at, 0) + less
                                  : std::max(at + less, 0);
      };
      const auto end = [&](int axis, int r) {
        const int at = own[axis] + s.high[axis] * r, less = s.less_high[axis];
        const int last = cells_[axis] - 1;
        return axis == 0          ? at - less
               : s.counts_in_grid ? std::min(at, last) - less
                                  : std::min(at - less, last);
      };
      best_found found;
      const int rings = std::min(s.rings, std::max({cells_[0], cells_[1], cells_[2]}));
      for (int r = s.first_ring; r < rings; ++r) {
        for (int z = begin(2, r); z <= end(2, r); ++z) {
          for (int y = begin(1, r); y <= end(1, r); ++y) {
            const bool on_face =
                !s.is_shell || std::abs(z - own[2]) == r || std::abs(y - own[1]) == r;
            const int row_y = s.exchanges_y_and_z ? z : y, row_z = s.exchanges_y_and_z ? y : z;
            if (on_face) {
              look(i, begin(0, r), s.one_of_whole_row ? begin(0, r) : end(0, r), row_y, row_z,
                   found);
              continue;
            }
            for (int x = begin(0, r); x <= end(0, r); x += 2 * r)
              if (x < own[0] ? !s.no_left : !s.no_right) look(i, x, x, row_y, row_z, found);
          }
        }
        if (s.ends_with_a_point ? found.j >= 0 : found.best < beyond(i, r + s.too_early)) break;
      }
      return found.j;
    }

   private:
    struct best_found {
      float best = std::numeric_limits<float>::infinity();
      int j = -1;
    };

    std::array<int, 3> cell_of(int i) const {
      std::array<int, 3> c{};
      for (int axis = 0; axis < 3; ++axis) c[axis] = static_cast<int>(place(i, axis));
      return c;
    }
    float place(int i, int axis) const { return (points_[i][axis] - corner_[axis]) * (1 / width_); }
    int number(int x, int y, int z) const { return (z * cells_[1] + y) * cells_[0] + x; }

    void look(int i, int x0, int x1, int y, int z, best_found& found) const {
      if (x1 < 0 || x0 >= cells_[0]) return;
      const int last =
          std::min(number(std::min(x1, cells_[0] - 1), y, z), int(members_.size()) - 1);
      for (int c = number(std::max(x0, 0), y, z); c <= last; ++c) {
        for (const int j : members_[c]) {
          const point &p = points_[i], &q = points_[j];
          const float d = squared_distance(q[0] - p[0], q[1] - p[1], q[2] - p[2]);
          if (j != i && (d < found.best || (d == found.best && j < found.j))) found = {d, j};
        }
      }
    }
    // As point_grid::beyond().
    float beyond(int i, int r) const {
      const auto own = cell_of(i);
      float least = std::numeric_limits<float>::infinity();
      for (int axis = 0; axis < 3; ++axis) {
        const float margin = static_cast<float>(cells_[axis]) * 0x1p-20f, at = place(i, axis);
        if (own[axis] - r > 0)
          least = std::min(least, at - static_cast<float>(own[axis] - r) - margin);
        if (own[axis] + r + 1 < cells_[axis])
          least = std::min(least, static_cast<float>(own[axis] + r + 1) - at - margin);
      }
      const float distance = std::max(least, 0.0f) * width_;
      return distance * distance;
    }

    std::span<const point> points_;
    point corner_;
    float width_ = 0;
    std::array<int, 3> cells_ = {1, 1, 1};
    std::vector<std::vector<int>> members_;
  };

  // A search through cells with one mistake, if it gives exactly these answers.
  std::string search_of_cells() const {
    if (!are_comparable()) return "";
    const cell_grid grid(points_);
    if (grid.is_one_cell()) return "";
    const auto finds_this = [&](cell_search s) {
      for (const bool is_shell : {false, true}) {
        for (const bool counts_in_grid : {false, true}) {
          s.is_shell = is_shell;
          s.counts_in_grid = counts_in_grid;
          if (everywhere([&](int i) { return found_[i] == grid.nearest(i, s); })) return true;
        }
      }
      return false;
    };
    const char* const until =
        ": continue, ring by ring, until best is below grid.beyond() of the ring that was searched";
    const std::pair<cell_search, std::string> mistakes[] = {
        {{.rings = 1}, std::string("looks only at the cell of the point") + until},
        {{.rings = 2},
         std::string("looks only at the cell of the point and those around it") + until},
        {{.first_ring = 1}, "does not look at the cell of the point: rings begin with 0"},
        {{.ends_with_a_point = true},
         std::string("ends with the first ring that has a point, and a nearer one may follow") +
             until},
        {{.too_early = 1}, std::string("ends one ring too early") + until},
        {{.no_left = true},
         "leaves out the left end of each row inside a ring: it has two cells, own.x - r and "
         "own.x + r"},
        {{.no_right = true},
         "leaves out the right end of each row inside a ring: it has two cells, own.x - r and "
         "own.x + r"},
        {{.one_of_whole_row = true},
         "looks at one cell of each row on a ring's faces: it goes from own.x - r to own.x + r"},
        {{.exchanges_y_and_z = true},
         "looks up a row of cells with y and z exchanged: range() takes x, x, y, z"}};
    for (const auto& [s, text] : mistakes)
      if (finds_this(s)) return std::string(of_search) + text;
    for (int axis = 0; axis < 3; ++axis) {
      const char name = "xyz"[axis];
      const std::string from_to =
          std::string(": it goes from own.") + name + " - r to own." + name + " + r, both included";
      for (const bool is_low : {true, false}) {
        const std::string side = std::string(is_low ? "lower " : "higher ") + name;
        cell_search one, all;
        (is_low ? one.less_low : one.less_high)[axis] = 1;
        (is_low ? all.low : all.high)[axis] = 0;
        if (finds_this(one))
          return std::string(of_search) + "leaves out the cells of a ring with the " +
                 (is_low ? "lowest " : "highest ") + name + from_to;
        if (finds_this(all))
          return std::string(of_search) + "leaves out the cells with a " + side + from_to;
      }
      cell_search flat;
      flat.low[axis] = flat.high[axis] = 0;
      if (finds_this(flat))
        return std::string(of_search) + "looks only at cells with the same " + name +
               " as the point's" + from_to;
    }
    return "";
  }
  static constexpr const char* of_search = "this happens if a search of build_grid()'s cells ";

  // Where the nearest points that are not found lie, if a search goes through cells in another way.
  std::string cells() const {
    constexpr std::size_t least_wrong = 5;  // fewer may be in other cells by chance
    if (!are_comparable() || n() <= 32 || wrong_.size() < least_wrong) return "";
    if (wrong_.front() > 0 && wrong_are_last()) return "";
    if (!everywhere(
            [&](int i) { return found_[i] == -1 || (is_index(found_[i]) && found_[i] != i); }))
      return "";
    const cell_grid grid(points_);
    const std::string by_cells = of_all(wrong_.size()) +
                                 " are wrong. In the cells of build_grid(), every point that was "
                                 "missed is ";
    const auto missed_at = [&](int i) { return grid.ring(i, expected_[i]); };
    const auto found_at = [&](int i) { return found_[i] < 0 ? -1 : grid.ring(i, found_[i]); };
    int nearest_missed = missed_at(wrong_[0]), farthest_found = 0;
    for (const int i : wrong_) nearest_missed = std::min(nearest_missed, missed_at(i));
    for (int i = 0; i < n(); ++i) farthest_found = std::max(farthest_found, found_at(i));
    if (all_wrong([&](int i) { return missed_at(i) == 0; }))
      return by_cells +
             "in the own cell of the point that looks for it: does the search begin with "
             "ring 0, and skip only the point itself?";
    if (nearest_missed == 0) return "";
    if (farthest_found < nearest_missed)
      return by_cells + "in ring " + std::to_string(nearest_missed) +
             " or beyond, and none was found there: does the search go through rings 0, 1, 2, ... "
             "until no point of the next ring can be nearer?";
    if (all_wrong([&](int i) { return missed_at(i) > found_at(i); }))
      return by_cells +
             "in a farther ring than the one that was found: a nearer point may be in the next "
             "ring, so search until best is below grid.beyond() of the ring that was searched";
    return by_cells + "in another cell than the point that looks for it" + side_of_missed(grid) +
           ". Are all cells of a ring searched, with x, y and z each in its own place?";
  }

  // The side on which all missed points lie, if they share one.
  std::string side_of_missed(const cell_grid& grid) const {
    std::string text;
    for (int axis = 0; axis < 3; ++axis) {
      for (const int side : {-1, 1}) {
        const auto lies_there = [&](int i) { return side * grid.step(i, expected_[i])[axis] > 0; };
        if (all_wrong(lies_there))
          text += (text.empty() ? ", in one with a " : " and a ") +
                  std::string(side < 0 ? "lower " : "higher ") + "xyz"[axis];
      }
    }
    return text;
  }

  std::span<const point> points_;
  std::span<const int> expected_, found_;
  std::vector<int> wrong_;
};

std::span<const point> points_of(const problem_call& call) {
  static_assert(sizeof(point) == 3 * sizeof(float));
  const auto& data = call.buffers.at(0).data;
  return {reinterpret_cast<const point*>(data.data()), data.size() / sizeof(point)};
}

class neighbour_problem : public points_problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    const shape s = checked(n);
    problem_call call = call_of(
        s.n, "n = " + std::to_string(s.n) + ", " + s.kind->name + ", seed " + std::to_string(seed));
    const std::span<point> points{reinterpret_cast<point*>(call.buffers[0].data.data()),
                                  static_cast<std::size_t>(s.n)};
    s.kind->fill(points, stream_for(seed, streams_per_point * points.size() + n[1]));
    return call;
  }

  float largest_coordinate() const override { return stepwise::largest_coordinate; }

  problem_call call_with(const std::vector<point_3d>& points,
                         const std::string& label) const override {
    problem_call call = call_of(checked({std::ssize(points), 0}).n, label);
    std::memcpy(call.buffers[0].data.data(), points.data(), call.buffers[0].bytes);
    return call;
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    const std::span<const point> points = points_of(call);
    if (outputs.size() != 1 || outputs[0].size() != points.size() * sizeof(int)) {
      return "neighbour: expected one output of " + std::to_string(points.size() * sizeof(int)) +
             " bytes";
    }
    std::vector<int> found(points.size());
    std::memcpy(found.data(), outputs[0].data(), outputs[0].size());
    const std::vector<int> expected = reference(points);
    if (found == expected) return std::nullopt;
    const wrong_result wrong(points, expected, found);
    return "neighbour: " + wrong.first() + " (" + call.label + "); " + wrong.looks_like();
  }

  // Every coordinate must be read and every answer written. Operations are counted for all pairs:
  // three subtractions, a multiplication and two multiply-adds per pair. A better algorithm needs
  // fewer operations, so the rate counts the pairs that it settles.
  problem_work work(const size& n) const override {
    const double count = checked(n).n;
    const double pairs = count * (count - 1);
    return {(sizeof(point) + sizeof(int)) * count, 8 * pairs, "flop", pairs, "pairs"};
  }

 private:
  // The call with an input of zeros.
  static problem_call call_of(int n, const std::string& label) {
    const std::size_t count = n;
    problem_call call{label, {}, {n}};
    call.add_input("xyz", count * sizeof(point));
    call.add_output("nearest", count * sizeof(int));
    call.add_scratch("scratch", scratch_bytes(n));
    return call;
  }

  struct shape {
    int n;
    const data_kind* kind;
  };

  static shape checked(const size& n) {
    constexpr std::int64_t most = 100000000;
    if (n.size() != 2 || n[0] < 1 || n[0] > most || n[1] < 0 || n[1] >= std::ssize(data_kinds)) {
      std::string kinds;
      for (std::size_t i = 0; i < data_kinds.size(); ++i)
        kinds += (i == 0 ? "" : ", ") + std::to_string(i) + " " + data_kinds[i].name;
      throw std::invalid_argument(
          "neighbour: a size is n x kind, n from 1 to 100000000, and the points of kind " + kinds);
    }
    return {static_cast<int>(n[0]), &data_kinds[static_cast<std::size_t>(n[1])]};
  }
};

}  // namespace

STEPWISE_PROBLEM(neighbour_problem)
}  // namespace stepwise
