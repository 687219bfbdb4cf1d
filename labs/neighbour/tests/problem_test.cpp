// Tests the nearest-neighbour lab's inputs, reference and comparison, and its messages about wrong
// results.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "common/lab/points.hpp"
#include "common/lab/random.hpp"
#include "labs/neighbour/nearest_tree.hpp"
#include "labs/neighbour/neighbour.hpp"
#include "labs/tests/problem_tests.hpp"

namespace neighbour_problem_test {

using namespace stepwise;

enum kind {
  spread_evenly,
  clustered,
  in_one_place,
  on_a_line,
  nearly_tied,
  far_apart,
  tied_before_rounding
};

// The contract, taken literally.
template <class Distance>
std::vector<int> by_all_pairs(const std::vector<point>& points, const Distance& distance) {
  std::vector<int> nearest(points.size(), -1);
  for (std::size_t i = 0; i < points.size(); ++i) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < points.size(); ++j) {
      const double d = distance(points[i], points[j]);
      if (j != i && d < best) {
        best = d;
        nearest[i] = static_cast<int>(j);
      }
    }
  }
  return nearest;
}

float as_in_the_contract(const point& from, const point& to) {
  const float dx = to[0] - from[0], dy = to[1] - from[1], dz = to[2] - from[2];
  return std::fmaf(dz, dz, std::fmaf(dy, dy, dx * dx));
}

std::vector<int> by_tree(const std::vector<point>& points) {
  const nearest_tree tree(points);
  std::vector<int> nearest(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) nearest[i] = tree.nearest(static_cast<int>(i));
  return nearest;
}

struct example {
  example(std::int64_t n, std::int64_t kind, std::uint64_t seed = 7)
      : lab(problem_under_test()), call(lab.make_call({n, kind}, seed)), points(n) {
    std::memcpy(points.data(), call.buffers[0].data.data(), n * sizeof(point));
  }

  std::vector<int> right() const { return by_all_pairs(points, as_in_the_contract); }

  // The message of check() about this result, or "" if the result is right.
  std::string verdict(const std::vector<int>& nearest) const {
    const auto bytes = std::as_bytes(std::span(nearest));
    return lab.check(call, std::span(&bytes, 1)).value_or("");
  }

  void says(const std::vector<int>& nearest, const std::string& phrase) const {
    const std::string text = verdict(nearest);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  const problem& lab;
  problem_call call;
  std::vector<point> points;
};

TEST_CASE("a call has the contract's buffers and scalars, and its size and seed decide its bytes") {
  const example a(1023, 0), again(1023, 0), other(1023, 0, 8), longer(1024, 0), kind(1023, 1);
  REQUIRE(a.call.buffers.size() == 3);
  CHECK(a.call.label == "n = 1023, spread evenly, seed 7");
  CHECK(a.call.scalars == std::vector<std::int64_t>{1023});
  CHECK(a.call.buffers[0].role == runner::buffer_role::input);
  CHECK(a.call.buffers[0].bytes == 12 * 1023);
  CHECK(a.call.buffers[1].role == runner::buffer_role::output);
  CHECK(a.call.buffers[1].bytes == 4 * 1023);
  CHECK(a.call.buffers[2].role == runner::buffer_role::scratch);
  CHECK(a.call.buffers[2].bytes == scratch_bytes(1023));
  CHECK(a.points == again.points);
  CHECK(a.points != other.points);
  CHECK(a.points[0] != longer.points[0]);
  CHECK(a.points[0] != kind.points[0]);
}

TEST_CASE("inputs have the same bytes on every machine") {
  const auto hash = [](std::int64_t kind) {
    return hash_of(problem_under_test().make_call({1000, kind}, 7).buffers[0].data);
  };
  CHECK(hash(spread_evenly) == 0xc5e2c290c9c14e55);
  CHECK(hash(clustered) == 0xda6f17b465759b72);
  CHECK(hash(in_one_place) == 0xe18df2fda9966ae5);
  CHECK(hash(on_a_line) == 0x07908f5ecb33662e);
}

TEST_CASE("points are spread, crowded, in one place or in line, and within the contract's limits") {
  for (const auto kind : {spread_evenly, clustered, in_one_place, on_a_line, nearly_tied, far_apart,
                          tied_before_rounding}) {
    const example e(2000, kind);
    for (const point& p : e.points)
      for (const float coordinate : p) CHECK(std::abs(coordinate) <= 1e18f);
    const std::set<point> different(e.points.begin(), e.points.end());
    const std::vector<int> nearest = e.right();
    std::size_t mutual = 0, ties = 0;
    float least = INFINITY;
    for (int i = 0; i < 2000; ++i) {
      const float d = as_in_the_contract(e.points[i], e.points[nearest[i]]);
      least = std::min(least, d);
      mutual += nearest[nearest[i]] == i;
      for (int j = nearest[i] + 1; j < 2000; ++j) {
        if (j == i || as_in_the_contract(e.points[i], e.points[j]) != d) continue;
        ++ties;
        break;
      }
    }
    CAPTURE(kind);
    switch (kind) {
      case spread_evenly:
        CHECK(different.size() > 1998);
        CHECK(ties < 10);
        CHECK(mutual > 1000);
        break;
      case clustered:
        CHECK(different.size() < 1990);  // some points coincide
        CHECK(different.size() > 1500);
        CHECK(ties > 100);
        break;
      case in_one_place:
        CHECK(different.size() == 1);
        CHECK(ties == 2000);
        break;
      case on_a_line:
        CHECK(different.size() == 2000);
        CHECK(ties == 1998);  // all but the two points at the ends
        break;
      case nearly_tied:
        CHECK(different.size() == 2000);
        CHECK(ties == 0);
        CHECK(mutual > 1300);  // the centres of 667 groups, and the points nearest to them
        break;
      case far_apart:
        CHECK(different.size() == 2000);
        CHECK(least > 1e30f);
        break;
      case tied_before_rounding:
        CHECK(different.size() == 2000);
        CHECK(ties == 0);
        CHECK(mutual > 1300);
        break;
    }
  }
}

TEST_CASE("sizes outside the contract are refused") {
  const problem& lab = problem_under_test();
  for (const problem::size& n : std::vector<problem::size>{
           {}, {4}, {0, 0}, {-1, 0}, {100000001, 0}, {4, -1}, {4, 7}, {4, 0, 0}}) {
    CHECK_THROWS_AS(lab.make_call(n, 1), std::invalid_argument);
    CHECK_THROWS_AS(lab.work(n), std::invalid_argument);
  }
  CHECK_NOTHROW(lab.work({100000000, 6}));
}

TEST_CASE("work is one read per point, one write per answer, and all pairs") {
  const problem_work work = problem_under_test().work({1000, 1});
  CHECK(work.bytes == 16000);
  CHECK(work.operations == 8.0 * 1000 * 999);
  CHECK(work.operation_unit == "flop");
  CHECK(work.rated == 1000.0 * 999);
  CHECK(work.rated_unit == "pairs");
}

TEST_CASE("the tree finds the same as all pairs, even with ties and points that coincide") {
  for (const auto kind : {spread_evenly, clustered, in_one_place, on_a_line, nearly_tied, far_apart,
                          tied_before_rounding}) {
    for (const int n : {1, 2, 3, 8, 9, 17, 100, 1000, 1201}) {
      const example e(n, kind);
      CAPTURE(kind);
      CAPTURE(n);
      CHECK(by_tree(e.points) == e.right());
    }
  }
  // Coordinates with only four values produce nothing but ties. Coordinates of very different
  // magnitudes give distances that are the rounded square of one difference, or 0 for points that
  // differ.
  random_stream random = stream_for(7, 1);
  std::vector<point> few(1000), wide(1000);
  for (point& p : few)
    for (float& coordinate : p) coordinate = static_cast<float>(random.next() % 4);
  for (point& p : wide)
    for (float& coordinate : p)
      coordinate =
          std::ldexp(static_cast<float>(random.next() % 16) - 8, int(random.next() % 180) - 125);
  CHECK(by_tree(few) == by_all_pairs(few, as_in_the_contract));
  CHECK(by_tree(wide) == by_all_pairs(wide, as_in_the_contract));
}

TEST_CASE("the nearest points pass, and any other answer in any place fails") {
  for (const auto& [n, kind] :
       {std::pair{1, 0}, {2, 0}, {40, 0}, {40, 1}, {40, 2}, {40, 3}, {40, 4}, {40, 5}, {40, 6}}) {
    const example e(n, kind);
    std::vector<int> nearest = e.right();
    CHECK(e.verdict(nearest) == "");
    for (int& answer : nearest) {
      const int kept = answer;
      for (int other = -2; other <= n; ++other) {
        answer = other;
        CHECK((e.verdict(nearest) == "") == (other == kept));
      }
      answer = kept;
    }
  }
}

TEST_CASE("one wrong answer among many points is found, wherever it is") {
  const example e(30011, clustered);
  std::vector<int> nearest = by_tree(e.points);
  CHECK(e.verdict(nearest) == "");
  for (const std::size_t i : {std::size_t{0}, nearest.size() / 2, nearest.size() - 1}) {
    const int right = std::exchange(nearest[i], nearest[i] == 7 ? 8 : 7);
    CHECK(e.verdict(nearest).find("nearest[" + std::to_string(i) + "] = ") != std::string::npos);
    nearest[i] = right;
  }
}

TEST_CASE("a message has the expected and the found point, their distances, and the place") {
  const example e(5, on_a_line);
  std::vector<int> nearest = e.right();
  // Points k and k + 4 of the line. Their squared distance is 16 times that of neighbours, 9 + 4 +
  // 1.
  const auto first = std::min_element(e.points.begin(), e.points.end()) - e.points.begin();
  const auto last = std::max_element(e.points.begin(), e.points.end()) - e.points.begin();
  const int right = std::exchange(nearest[first], static_cast<int>(last));
  const std::string text = e.verdict(nearest);
  CAPTURE(text);
  CHECK(text.starts_with("neighbour: nearest[" + std::to_string(first) +
                         "] = " + std::to_string(last) + ", expected " + std::to_string(right) +
                         "; their squared distances are 224 and 14 (n = 5, on a line, seed 7); "));
}

TEST_CASE("common mistakes are recognised by the result that they produce") {
  const example e(70, spread_evenly), line(70, on_a_line), lone(1, spread_evenly);
  const std::vector<int> right = e.right();
  std::vector<int> nearest(70);
  std::memset(nearest.data(), 0xa5, 70 * sizeof(int));
  e.says(nearest, "nothing was written to it");
  std::copy(right.begin(), right.begin() + 64, nearest.begin());
  e.says(nearest, "6 of 70 entries were not written, all from 64 on - does the grid round up");
  std::swap(nearest[1], nearest[2]);
  e.says(
      nearest,
      "6 of 70 entries were not written, all from 64 on, and 2 others are wrong: does each thread "
      "store to the index of its own point?");
  std::memset(&nearest[1], 0xa5, 69 * sizeof(int));
  e.says(nearest, "all from 1 on. Does every point have a thread: <<<number of bl");
  std::memset(&(nearest = right)[9], 0xa5, sizeof(int));
  e.says(nearest, "1 of 70 entries was not written");

  for (int i = 0; i < 70; ++i) nearest[i] = i;
  e.says(nearest, "every answer is the point itself: is j == i skipped, and is best_j set to j?");
  (nearest = right)[3] = 3;
  e.says(nearest, "that is the point itself, in 1 of 70 entries");
  e.says(std::vector<int>(70, 5), "every answer is 5: is best_j set to j?");
  lone.says({0}, "a single point has no neighbour: the answer is -1");
  (nearest = right)[3] = -1;
  e.says(nearest, "no neighbour was found for 1 of 70 entries");
  e.says(nearest, "does the search for point 3 reach point " + std::to_string(right[3]));
  nearest[4] = 70;
  e.says(nearest, "1 of 70 entries is not the index of a point");
  for (int i = 60; i < 70; ++i) nearest[i] = i;
  nearest[3] = right[3];
  nearest[4] = right[4];
  e.says(nearest, "that is the point itself, for every i from 60 on and for none before");
  (nearest = right)[5] = 71;
  e.says(nearest, "1 of 70 entries is not the index of a point, but 70 or a little more");

  // The last of several equal points instead of the first.
  std::vector<point> turned(line.points.rbegin(), line.points.rend());
  nearest = by_all_pairs(turned, as_in_the_contract);
  std::reverse(nearest.begin(), nearest.end());
  for (int& j : nearest) j = 69 - j;
  line.says(nearest, "of several points at the same distance the one with the lowest index counts");

  nearest = by_all_pairs(e.points, [&](const point& from, const point& to) {
    return &to < &e.points[64] ? as_in_the_contract(from, to) : INFINITY;
  });
  const int unseen = *std::min_element(right.begin(), right.end(), [](int a, int b) {
    // The first point that should have been found.
    return std::pair(a < 64, a) < std::pair(b < 64, b);
  });
  REQUIRE(unseen >= 64);
  e.says(nearest, "no point from " + std::to_string(unseen) + " on is ever found");

  nearest = by_all_pairs(e.points, [&](const point& from, const point& to) {
    return &to >= &e.points[64] ? as_in_the_contract(from, to) : INFINITY;
  });
  const int lowest = *std::min_element(nearest.begin(), nearest.end());
  e.says(nearest, "are the nearest of the points from " + std::to_string(lowest) + " on");

  nearest = right;
  std::swap(nearest[10], nearest[20]);
  e.says(nearest, "2 of 70 entries are wrong");
}

TEST_CASE("a size without sizeof is recognised by the bytes that were not written") {
  for (const int n : {1, 70}) {
    const example e(n, spread_evenly);
    std::vector<int> nearest(n);
    std::memset(nearest.data(), 0xa5, n * sizeof(int));
    std::memcpy(nearest.data(), e.right().data(), n);
    e.says(nearest, std::string(n == 1 ? "the first byte was written, of 4"
                                       : "first 70 bytes were written, of 280") +
                        ": a size is in bytes, n * sizeof(int)");
    std::memcpy(nearest.data(), e.right().data(), n + 1);
    CHECK(e.verdict(nearest).find("a size is in bytes") == std::string::npos);
  }
}

TEST_CASE("values that were stored instead of the index are recognised") {
  const example lone(1, spread_evenly), e(300, spread_evenly), line(70, on_a_line);
  const std::vector<int> right = e.right();
  const auto changed = [&](auto change) {
    std::vector<int> nearest(right);
    std::transform(right.begin(), right.end(), nearest.begin(), change);
    return nearest;
  };
  lone.says({std::numeric_limits<int>::max()}, "that is what infinity becomes as an int");
  line.says(std::vector<int>(70, 14), "these are the smallest squared distances");
  e.says(changed([](int j) { return std::int8_t(j); }), "the low 8 bits of the right indices");
  e.says(changed([](int j) { return std::uint8_t(j); }), "the right indices modulo 256");
  e.says(changed([](int j) { return j % 128; }),
         "the right indices modulo 128: is the tile's first index added, and is there a barrier");
  e.says(changed([](int j) { return j < 128 ? j : j % 128 + 1; }), "entries are wrong");
  e.says(changed([](int j) { return (7 * j + 3) % 300; }),
         "the right neighbours, numbered in another order");
  std::vector<int> nearest = right;
  std::rotate(nearest.begin(), nearest.begin() + 100, nearest.end());
  e.says(nearest, "the right answers in other places");
  std::fill(nearest.begin(), nearest.end(), 0);
  nearest[0] = 1;
  e.says(nearest, "every answer is the first of the other points");
  std::fill(nearest.begin(), nearest.end(), 299);
  nearest[299] = 298;
  e.says(nearest, "every answer is the last of the other points");
  nearest = right;
  for (const int i : {298, 299}) nearest[i] = (right[i] + 1) % 200;
  e.says(nearest, "2 of 300 entries are wrong, all from 298 on: what differs in the last block");
}

TEST_CASE("an index that is too narrow is recognised by the points that it does not reach") {
  const example lone(1, spread_evenly), e(300, spread_evenly), many(65600, spread_evenly);
  lone.says({255}, "that is what -1 becomes in an unsigned char: keep an index in an int");
  lone.says({65535}, "that is what -1 becomes in an unsigned short");
  lone.says({127}, "not the index of a point");
  const auto found_before = [](const example& of, int first) {
    return by_all_pairs(of.points, [&](const point& from, const point& to) {
      return &to < &of.points[first] ? as_in_the_contract(from, to) : INFINITY;
    });
  };
  for (const int first : {128, 256})
    e.says(found_before(e, first), "and is every index wider than a char?");
  CHECK(e.verdict(found_before(e, 200)).ends_with("multiple of the tile?"));
  const auto written_before = [](const example& of, int first) {
    std::vector<int> nearest = by_tree(of.points);
    std::memset(&nearest[first], 0xa5, (nearest.size() - first) * sizeof(int));
    return nearest;
  };
  for (const int first : {128, 256})
    e.says(written_before(e, first), "up, is the block's number in the index, and is every index");
  for (const int first : {1 << 15, 1 << 16})
    many.says(written_before(many, first), "in the index, and is every index wider than a short?");
  CHECK(e.verdict(written_before(e, 192)).ends_with("number in the index?"));
}

TEST_CASE("few points cannot distinguish one mistake from another") {
  const example e(3, spread_evenly);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 3; ++c) {
        const std::string text = e.verdict({a, b, c});
        CHECK(text.find("modulo") == std::string::npos);
        CHECK(text.find("every answer") == std::string::npos);
      }
}

TEST_CASE("another distance, or another layout of the coordinates, is recognised") {
  const example e(70, spread_evenly);
  const float* const f = e.points[0].data();
  const auto read = [&](auto coordinates) {
    std::vector<point> points(70);
    for (int i = 0; i < 70; ++i) points[i] = coordinates(i);
    return points;
  };
  const auto shifted = read([&](int i) { return point{f[i], f[i + 1], f[i + 2]}; });
  e.says(by_all_pairs(read([&](int i) {
                        return point{f[i], f[70 + i], f[140 + i]};
                      }),
                      as_in_the_contract),
         "xyz is read as all x, then all y, then all z; it holds point after point");
  e.says(by_all_pairs(shifted, as_in_the_contract), "points i and j are read at xyz[i] and xyz[j]");
  e.says(by_all_pairs(e.points,
                      [&](const point& from, const point& to) {
                        return as_in_the_contract(from, shifted[&to - e.points.data()]);
                      }),
         "point j is read at xyz[j], xyz[j + 1], xyz[j + 2]");
  e.says(by_all_pairs(e.points,
                      [](const point& from, const point& to) {
                        const float dx = to[0] - from[0], dy = to[1] - from[1];
                        const float dz = to[2] - from[2];
                        return std::fmaf(dz, dz, std::fmaf(dy, dx, dx * dx));
                      }),
         "this happens if dy * dx is added in place of dy * dy");
  for (const int axis : {0, 1, 2}) {
    const auto flat = read([&](int i) {
      point p = e.points[i];
      p[axis] = 0;
      return p;
    });
    e.says(by_all_pairs(flat, as_in_the_contract),
           std::string("this happens if ") + "xyz"[axis] + " is left out");
  }
  e.says(by_all_pairs(e.points,
                      [](const point& p, const point& q) {
                        return std::abs(q[0] - p[0]) + std::abs(q[1] - p[1]) +
                               std::abs(q[2] - p[2]);
                      }),
         "|dx| + |dy| + |dz| is compared");
  e.says(by_all_pairs(e.points,
                      [](const point& p, const point& q) {
                        return (q[0] - p[0]) + (q[1] - p[1]) + (q[2] - p[2]);
                      }),
         "dx + dy + dz is compared");
  e.says(by_all_pairs(e.points,
                      [](const point& p, const point& q) { return -as_in_the_contract(p, q); }),
         "the farthest point is kept");
  e.says(
      by_all_pairs(e.points, [](const point& p,
                                const point& q) { return std::trunc(as_in_the_contract(p, q)); }),
      "distances lose their fractions");
}

TEST_CASE("square roots turn distances that nearly tie into ties") {
  const auto root = [](const point& from, const point& to) {
    return std::sqrt(as_in_the_contract(from, to));
  };
  const example tied(100, nearly_tied);
  tied.says(by_all_pairs(tied.points, root), "their roots are the same float");
  for (const auto kind : {spread_evenly, clustered, in_one_place, on_a_line}) {
    const example e(100, kind);
    CHECK(e.verdict(by_all_pairs(e.points, root)) == "");  // the reason for the kind `nearly_tied`
  }
}

TEST_CASE("a search that finds no point is recognised by the distances") {
  const example e(100, spread_evenly), far(100, far_apart), crowded(257, clustered);
  const auto below = [](const example& of, float first) {
    return by_all_pairs(of.points, [=](const point& from, const point& to) {
      const float d = as_in_the_contract(from, to);
      return d < first ? d : INFINITY;
    });
  };
  e.says(below(e, 0), "every answer is -1, and no squared distance is below 0.0");
  far.says(below(far, 1e9f), "does best begin at INFINITY");
  far.says(below(far, 1e30f), "does best begin at INFINITY");
  crowded.says(below(crowded, 100), "is at a squared distance of 446.526184 or more");
  CHECK(e.verdict(below(e, 1e9f)) == "");  // the reason for the kind `far_apart`
}

TEST_CASE("distances with other roundings are recognised") {
  const auto sum = [](auto add) {
    return [=](const point& p, const point& q) {
      return double(add(q[0] - p[0], q[1] - p[1], q[2] - p[2]));
    };
  };
  const auto in_double = sum([](double x, double y, double z) { return x * x + y * y + z * z; });
  const auto unfused = sum([](float x, float y, float z) {
    volatile float xx = x * x, yy = y * y, zz = z * z;
    return xx + yy + zz;
  });
  const auto backwards = sum([](float x, float y, float z) { return squared_distance(z, y, x); });
  const auto sideways = sum([](float x, float y, float z) { return squared_distance(y, x, z); });
  for (const int n : {100, 1000}) {
    const example e(n, tied_before_rounding);
    e.says(by_all_pairs(e.points, in_double), "distances are not rounded to float");
    e.says(by_all_pairs(e.points, unfused), "products are rounded before they are added");
    e.says(by_all_pairs(e.points, backwards), "the squares are added in another order");
    e.says(by_all_pairs(e.points, sideways), "the squares are added in another order");
  }
}

TEST_CASE("pairs that are not compared are recognised") {
  const example e(100, spread_evenly), crowded(257, clustered);
  const auto pairs = [](const example& of, auto takes) {
    const point* const first = of.points.data();
    return by_all_pairs(of.points, [=](const point& from, const point& to) {
      return takes(&from - first, &to - first) ? as_in_the_contract(from, to) : INFINITY;
    });
  };
  using index = std::ptrdiff_t;
  e.says(pairs(e, [](index i, index j) { return j > i; }), "only points after point i");
  e.says(pairs(e, [](index i, index j) { return j < i; }), "only points before point i");
  e.says(pairs(e, [](index, index j) { return j > 0; }), "point 0 is left out");
  e.says(pairs(e, [](index, index j) { return j % 2 == 0; }), "only every 2nd point");
  e.says(pairs(e, [](index, index j) { return j % 32 == 0; }),
         "every shuffle that moves best also");
  e.says(pairs(e, [](index, index j) { return j % 32 < 16; }), "(j & 16) != 0 are left out");
  e.says(pairs(e, [](index i, index j) { return j / 32 <= i / 32; }),
         "miss the points that later warps copy");
  crowded.says(pairs(crowded,
                     [&](index i, index j) {
                       return as_in_the_contract(crowded.points[i], crowded.points[j]) > 0;
                     }),
               "points in the same place are skipped");
}

TEST_CASE("mistakes with tiles are recognised") {
  const example e(200, spread_evenly);
  const point* const first = e.points.data();
  const auto nearest_by = [&](auto distance) {
    return by_all_pairs(e.points, [=](const point& from, const point& to) {
      return distance(&from - first, &to - first);
    });
  };
  const auto exact = [&](std::ptrdiff_t i, std::ptrdiff_t j) {
    return as_in_the_contract(e.points[i], e.points[j]);
  };
  using index = std::ptrdiff_t;
  e.says(nearest_by([=](index i, index j) { return exact(i, j % 128); }),
         "every tile of 128 points is a copy of the first one");
  e.says(nearest_by([=](index i, index j) { return j % 32 == i % 32 ? INFINITY : exact(i, j); }),
         "point i skips a point in each tile of 32");
  const std::vector<int> late =
      nearest_by([=](index i, index j) { return exact(i, j + 128 < 200 ? j + 128 : j); });
  std::vector<int> nearest = e.right();
  std::copy(late.begin() + 64, late.end(), nearest.begin() + 64);  // only in late warps
  e.says(nearest, "are as if the tile that begins at 128 were copied while the first one is");
}

TEST_CASE("a distance that rounds the squares of coordinates is recognised") {
  const auto square = [](const point& p) { return as_in_the_contract({0, 0, 0}, p); };
  const auto expanded = [&](const point& p, const point& q) {
    const float both = std::fmaf(p[2], q[2], std::fmaf(p[1], q[1], p[0] * q[0]));
    return square(p) + square(q) - 2 * both;
  };
  const example e(257, clustered);
  std::vector<int> nearest = by_all_pairs(e.points, expanded);
  e.says(nearest, "are hardly farther than the expected ones: subtract the coordinates before");
  nearest[7] = nearest[7] == 200 ? 201 : 200;
  CHECK(e.verdict(nearest).find("hardly farther") == std::string::npos);
}

TEST_CASE("threads that search for several points are recognised by what they share") {
  const example e(300, spread_evenly);
  std::vector<int> other = e.right(), shared(300, -1), until(300);
  for (int i = 128; i < 256; ++i) other[i] = other[i - 128];
  e.says(other, "nearest[128] is the answer for point 0, not for point 128: if a thread searches");
  for (int t = 0; t < 128; ++t) {
    float best = INFINITY;
    for (int j = 0; j < 300; ++j) {
      for (const int i : {t, t + 128, t + 256, t + 384}) {
        const float d = as_in_the_contract(e.points[j], e.points[std::min(i, 299)]);
        if (j == i || !(d < best)) continue;
        best = d;
        if (i < 300) shared[i] = j;
      }
    }
  }
  e.says(shared, "the points for which a thread searches share one smallest distance");
  std::vector<int> first_x = e.right();
  for (int i = 128; i < 256; ++i) {
    const point from = {e.points[i - 128][0], e.points[i][1], e.points[i][2]};
    float best = INFINITY;
    for (int j = 0; j < 300; ++j) {
      const float d = as_in_the_contract(from, e.points[j]);
      if (j == i || !(d < best)) continue;
      best = d;
      first_x[i] = j;
    }
  }
  e.says(first_x, "this happens if x of point ");
  const example more(1023, spread_evenly);
  until = more.right();
  std::fill(until.begin() + 640, until.end(), 0x01010101 * 0x47);
  more.says(until, "number in the index? If a thread searches for several points, is blockIdx.x");
}

TEST_CASE("wrong entries without a pattern suggest the second tile, if there may be one") {
  const example e(129, spread_evenly), few(32, spread_evenly);
  std::vector<int> nearest = e.right();
  nearest[3] = (nearest[3] + 1) % 3;
  nearest[50] = (nearest[50] + 1) % 3;
  e.says(nearest, "2 of 129 entries are wrong, in no known pattern. If smaller n are right");
  nearest = few.right();
  nearest[3] = (nearest[3] + 1) % 3;
  CHECK(few.verdict(nearest).ends_with("1 of 32 entries is wrong, in no known pattern"));
}

TEST_CASE("your own points give a call like any other") {
  const auto* const lab = dynamic_cast<const points_problem*>(&problem_under_test());
  REQUIRE(lab != nullptr);
  const example e(33, clustered);
  const problem_call call = lab->call_with(e.points, "mine.xyz");
  CHECK(call.label == "mine.xyz");
  CHECK(call.scalars == e.call.scalars);
  REQUIRE(call.buffers.size() == e.call.buffers.size());
  for (std::size_t i = 0; i < call.buffers.size(); ++i) {
    CHECK(call.buffers[i].name == e.call.buffers[i].name);
    CHECK(call.buffers[i].role == e.call.buffers[i].role);
    CHECK(call.buffers[i].bytes == e.call.buffers[i].bytes);
    CHECK(call.buffers[i].data == e.call.buffers[i].data);
  }
  CHECK_THROWS_AS(lab->call_with({}, "none"), std::invalid_argument);
  // Even two points that are as far apart as the contract allows have a finite distance.
  const float most = lab->largest_coordinate();
  CHECK(std::isfinite(as_in_the_contract({-most, -most, -most}, {most, most, most})));
}

TEST_CASE("an output of another size is refused") {
  const example e(8, spread_evenly);
  CHECK(e.lab.check(e.call, {}).has_value());
  CHECK(e.verdict(std::vector<int>(7)) != "");
}

}  // namespace neighbour_problem_test
