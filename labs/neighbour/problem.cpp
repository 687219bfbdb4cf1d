// The nearest-neighbour lab's inputs, reference and comparison.
//
// idea    A size is n and the kind of data. Evenly spread points flatter every algorithm. Clusters,
//         a line and a single place do not, and they are full of ties. Distances are rounded as the
//         contract says, so there is one right answer, and the comparison is ==.
// tested  labs/neighbour/tests/problem_test.cpp; the mutants in tests/mutants
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "common/lab/in_bands.hpp"
#include "common/lab/points.hpp"
#include "common/lab/random.hpp"
#include "labs/neighbour/nearest_tree.hpp"
#include "labs/neighbour/neighbour.hpp"

namespace stepwise {
namespace {

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

struct data_kind {
  const char* name;
  void (*fill)(std::span<point>, random_stream);
};
constexpr std::array<data_kind, 4> data_kinds = {{{"spread evenly", spread},
                                                  {"clustered", cluster},
                                                  {"all in one place", put_in_one_place},
                                                  {"on a line", line_up}}};

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
    for (const auto guess : {&wrong_result::not_written, &wrong_result::itself, &wrong_result::none,
                             &wrong_result::no_index, &wrong_result::ties,
                             &wrong_result::without_the_last, &wrong_result::other_layout}) {
      if (std::string text = (this->*guess)(); !text.empty()) return text;
    }
    return of_all(wrong_.size()) + " are wrong";
  }

 private:
  bool is_index(int j) const { return j >= 0 && j < static_cast<int>(points_.size()); }
  float distance(int i, int j) const { return squared_distance(points_[i], points_[j]); }

  std::string of_all(std::size_t count) const {
    return std::to_string(count) + " of " + std::to_string(found_.size()) + " entries";
  }

  template <class Property>
  bool all_wrong(const Property& has) const {
    return std::all_of(wrong_.begin(), wrong_.end(), has);
  }

  std::string not_written() const {
    const auto untouched = [&](int i) { return is_left_as_it_was(found_[i]); };
    const auto count =
        static_cast<std::size_t>(std::count_if(wrong_.begin(), wrong_.end(), untouched));
    if (count == found_.size()) {
      return "these are the bytes that filled nearest before the call: nothing was written to it";
    }
    if (count == 0 || count < wrong_.size()) return "";
    const std::string text = of_all(count) + " were not written";
    const std::size_t from = found_.size() - count;
    if (static_cast<std::size_t>(wrong_.front()) != from) return text;
    return text + ", all from " + std::to_string(from) +
           " on - does the grid cover points beyond the last whole block?";
  }

  std::string itself() const {
    if (!all_wrong([&](int i) { return found_[i] == i; })) return "";
    if (expected_[0] < 0) return "a single point has no neighbour: the answer is -1";
    return "that is the point itself, in " + of_all(wrong_.size()) +
           ": the nearest of the others is wanted, even if it is in the same place";
  }

  std::string none() const {
    if (!all_wrong([&](int i) { return found_[i] == -1; })) return "";
    return "no neighbour was found for " + of_all(wrong_.size()) +
           ": are all other points looked at, however far they are?";
  }

  std::string no_index() const {
    const auto bad = [&](int i) { return found_[i] != -1 && !is_index(found_[i]); };
    const auto count = std::count_if(wrong_.begin(), wrong_.end(), bad);
    if (count == 0) return "";
    return of_all(count) + " are no index of a point";
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

  // No point from some index on is ever found.
  std::string without_the_last() const {
    int last = static_cast<int>(points_.size());
    for (const int i : wrong_) last = std::min(last, expected_[i]);
    if (std::any_of(found_.begin(), found_.end(), [&](int j) { return j >= last; })) return "";
    return "no point from " + std::to_string(last) +
           " on is anybody's neighbour: are the last points compared, if n is not a multiple of "
           "the tile?";
  }

  std::string other_layout() const {
    constexpr std::size_t most = 65536, least = 8;
    const std::size_t n = points_.size();
    if (n > most || n < least) return "";
    std::vector<point> regrouped(n);
    const float* const floats = points_[0].data();
    for (std::size_t i = 0; i < n; ++i)
      regrouped[i] = {floats[i], floats[n + i], floats[2 * n + i]};
    const std::vector<int> other = reference(regrouped);
    if (!std::equal(other.begin(), other.end(), found_.begin())) return "";
    return "this comes out if xyz is read as all x, then all y, then all z; it holds point after "
           "point";
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
    s.kind->fill(points, stream_for(seed, data_kinds.size() * points.size() + n[1]));
    return call;
  }

  float largest_coordinate() const override { return 1e18f; }

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
  // three subtractions, a multiplication and two multiply-adds per pair. A better algorithm does
  // fewer, so the rate counts the pairs that it settles.
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
