// Tests the matmul lab's inputs, both of its comparisons, and its messages about wrong products.
#include "common/lab/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "labs/matmul/product_check.hpp"
#include "labs/tests/problem_tests.hpp"

namespace matmul_problem_test {

using namespace stepwise;
using namespace stepwise::matmul_lab;

// The elements are integers if n + seed is even, and real numbers if it is odd.
struct example {
  explicit example(int size, std::uint64_t seed = 7)
      : lab(problem_under_test()), n(size), call(lab.make_call({n}, seed)) {
    for (const int i : {0, 1}) {
      auto& values = i == 0 ? a : b;
      values.resize(std::size_t(n) * n);
      std::memcpy(values.data(), call.buffers[i].data.data(), call.buffers[i].bytes);
    }
  }

  // The matrix whose elements are element(row, col).
  std::vector<float> filled(const std::function<float(int, int)>& element) const {
    std::vector<float> c(a.size());
    for (int row = 0; row < n; ++row) {
      for (int col = 0; col < n; ++col) c[row * n + col] = element(row, col);
    }
    return c;
  }

  // Summed in float32, for k from `first` to `last`.
  float sum(int row, int col, int first, int last) const {
    float sum = 0;
    for (int k = first; k < last; ++k) sum += a[row * n + k] * b[k * n + col];
    return sum;
  }

  std::vector<float> product() const {
    return filled([&](int row, int col) { return sum(row, col, 0, n); });
  }

  // The message of check() about this result, or "" if the result is right.
  std::string verdict(const std::vector<float>& c) const {
    const auto bytes = std::as_bytes(std::span(c));
    return lab.check(call, std::span(&bytes, 1)).value_or("");
  }

  void says(const std::vector<float>& c, const std::string& phrase) const {
    const std::string text = verdict(c);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  matrices with(const std::vector<float>& c) const {
    const bool whole = std::all_of(a.begin(), a.end(), [](float v) { return v == std::trunc(v); });
    return {n, a, b, c, whole ? kind::whole : kind::real};
  }

  const problem& lab;
  int n;
  problem_call call;
  std::vector<float> a, b;
};

TEST_CASE("a call has the contract's buffers and scalars, and its size and seed decide its bytes") {
  const example e(33), again(33), other(33, 9), longer(35);
  REQUIRE(e.call.buffers.size() == 3);
  CHECK(e.call.label == "n = 33, seed 7");
  CHECK(e.call.scalars == std::vector<std::int64_t>{33});
  for (const auto& buffer : e.call.buffers) CHECK(buffer.bytes == 4 * 33 * 33);
  CHECK(e.call.buffers[0].role == runner::buffer_role::input);
  CHECK(e.call.buffers[1].role == runner::buffer_role::input);
  CHECK(e.call.buffers[2].role == runner::buffer_role::output);
  CHECK(e.a == again.a);
  CHECK(e.b == again.b);
  CHECK(e.a != other.a);
  CHECK(e.b != other.b);
  CHECK(!std::equal(e.a.begin(), e.a.begin() + 33, longer.a.begin()));
}

TEST_CASE("integers and real numbers alternate, by size and by seed, and a and b differ") {
  for (const int n : {16, 17}) {
    for (const std::uint64_t seed : {1, 2}) {
      const example e(n, seed);
      const bool whole = (n + seed) % 2 == 0;
      CHECK((e.with(e.a).of == kind::whole) == whole);
      float largest = 0, difference = 0, asymmetry = 0;
      for (int row = 0; row < n; ++row) {
        for (int col = 0; col < n; ++col) {
          largest = std::max(largest, std::abs(e.a[row * n + col]));
          difference = std::max(difference, std::abs(e.a[row * n + col] - e.b[row * n + col]));
          asymmetry = std::max(asymmetry, std::abs(e.a[row * n + col] - e.a[col * n + row]));
        }
      }
      CHECK(largest <= (whole ? 4095 : 1));
      CHECK(largest > (whole ? 2048 : 0.5f));
      CHECK(difference > 0.1f);
      CHECK(asymmetry > 0.1f);
    }
  }
}

TEST_CASE("sums of integers are exact in float32, in every order") {
  // Every partial sum is between the sum of the negative and the sum of the positive products.
  for (const int n : {1, 257, 4096, 8192}) {
    const example e(n, n % 2 == 0 ? 2 : 1);
    for (const int at : {0, n / 2, n - 1}) {
      double positive = 0, negative = 0;
      for (int k = 0; k < n; ++k) {
        const double product =
            double(e.a[std::size_t(at) * n + k]) * e.b[std::size_t(k) * n + (n - 1 - at)];
        (product > 0 ? positive : negative) += product;
      }
      CHECK(positive <= 0x1p24);
      CHECK(negative >= -0x1p24);
    }
  }
}

TEST_CASE("sizes outside the contract are refused") {
  const problem& lab = problem_under_test();
  CHECK_THROWS_AS(lab.make_call({0}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.make_call({-1}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.make_call({46341}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.make_call({2, 2}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.work({}), std::invalid_argument);
}

TEST_CASE("work is two operations per product, two matrices read and one written") {
  const problem_work work = problem_under_test().work({1000});
  CHECK(work.bytes == 12e6);
  CHECK(work.operations == 2e9);
  CHECK(work.operation_unit == "flop");
  CHECK(work.rated == work.operations);
  CHECK(work.rated_unit == "flop");
}

TEST_CASE("a product passes, summed in any order, and a product with a wrong element does not") {
  for (const int n : {1, 2, 31, 64, 100}) {
    for (const std::uint64_t seed : {1, 2}) {
      const example e(n, seed);
      CAPTURE(e.call.label);
      auto c = e.product();
      CHECK(e.verdict(c) == "");
      // Summed backwards, without fused multiply-adds, and in two halves.
      CHECK(e.verdict(e.filled([&](int row, int col) {
        float sum = 0;
        for (int k = n - 1; k >= 0; --k) {
          const volatile float product = e.a[row * n + k] * e.b[k * n + col];
          sum += product;
        }
        return sum;
      })) == "");
      CHECK(e.verdict(e.filled([&](int row, int col) {
        return e.sum(row, col, 0, n / 2) + e.sum(row, col, n / 2, n);
      })) == "");
      for (const std::size_t i : {std::size_t{0}, c.size() / 2, c.size() - 1}) {
        for (const float wrong : {c[i] + 1, -c[i] + 0.25f, std::numeric_limits<float>::quiet_NaN(),
                                  std::numeric_limits<float>::infinity()}) {
          auto broken = c;
          broken[i] = wrong;
          CHECK(e.verdict(broken) != "");
        }
      }
    }
  }
}

TEST_CASE("integers are compared exactly") {
  const example e(65);
  auto c = e.product();
  c[1000] = std::nextafter(c[1000], 1e9f);
  CHECK(e.verdict(c) != "");
}

TEST_CASE("the bound for real numbers is far above legal errors and far below real mistakes") {
  for (const int n : {64, 256}) {
    const example e(n);
    const auto c = e.product();
    double most = 0, tf32 = 0, without_last = 1e9;
    std::vector<double> row;
    for (int y = 0; y < n; ++y) {
      expected_row(e.with(c), y, row);
      for (int x = 0; x < n; ++x) {
        most = std::max(most, std::abs(c[y * n + x] - row[x]));
        without_last = std::min(without_last, std::abs(e.sum(y, x, 0, n - 1) - row[x]));
      }
      double sum = 0;
      for (int k = 0; k < n; ++k) {
        const auto cut = [](float value) { return std::round(value * 0x1p10f) * 0x1p-10f; };
        sum += double(cut(e.a[y * n + k])) * cut(e.b[k * n + y]);
      }
      tf32 = std::max(tf32, std::abs(sum - row[y]));
    }
    CHECK(most < largest_error(n) / 5);
    CHECK(tf32 > 5 * largest_error(n));
    const auto wrong =
        compare_all(e.with(e.filled([&](int y, int x) { return e.sum(y, x, 0, n - 1); })));
    CHECK(wrong.has_value());
  }
}

// Compares the same matrices in both ways. The two verdicts must agree.
std::optional<wrong_element> both(const example& e, const std::vector<float>& c) {
  const auto all = compare_all(e.with(c));
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto quick = compare_quickly(e.with(c), random_stream(seed));
    CHECK(quick.has_value() == all.has_value());
    if (quick && !quick->whole_row) {
      const float found = c[std::size_t(quick->row) * e.n + quick->col];
      CHECK(!is_right(e.with(c), found, quick->expected));
    }
  }
  return all;
}

TEST_CASE("the quick comparison comes to the same verdict as the full one") {
  for (const int n : {1, 2, 5, 33, 200}) {
    for (const std::uint64_t seed : {1, 2}) {
      const example e(n, seed);
      CAPTURE(e.call.label);
      const auto c = e.product();
      CHECK(!both(e, c));
      // One element is wrong by 1, at any place.
      for (std::size_t i = 0; i < c.size(); i += c.size() / 7 + 1) {
        auto broken = c;
        broken[i] += 1;
        const auto wrong = both(e, broken);
        REQUIRE(wrong);
        CHECK(std::size_t(wrong->row) * n + wrong->col == i);
      }
      // Two errors that cancel in a sum over the row.
      if (n > 1) {
        auto broken = c;
        broken[c.size() - 1] += 2;
        broken[c.size() - 2] -= 2;
        CHECK(both(e, broken));
      }
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 1e30f, 0.5f}) {
        auto broken = c;
        broken[c.size() / 2] = bad;
        CHECK(both(e, broken));
      }
      if (n > 2) {
        CHECK(both(e, e.filled([&](int row, int col) { return c[col * n + row]; })));
        CHECK(both(e, e.filled([&](int row, int col) { return e.sum(row, col, 0, n - 1); })));
      }
    }
  }
}

TEST_CASE("large matrices are judged by the quick comparison") {
  for (const std::uint64_t seed : {1, 2}) {
    const example e(513, seed);
    auto c = e.product();
    CHECK(e.verdict(c) == "");
    c[123456] += 1;
    e.says(c, "c[240][336] = ");
    e.says(std::vector<float>(c.size(), std::bit_cast<float>(0xa5a5a5a5)), "0xa5a5a5a5");
  }
}

TEST_CASE("a message has the expected and the found value, and their place") {
  const example whole(5), real(4);
  auto c = whole.product();
  const auto expected = static_cast<int>(c[13]);
  c[13] = 123456;
  CHECK(whole.verdict(c) == "matmul: c[2][3] = 123456, expected " + std::to_string(expected) +
                                " (n = 5, seed 7); 1 of 25 elements is wrong, in no known pattern");
  c = real.product();
  c[6] = 99;
  real.says(c, "c[1][2] = 99, expected ");
  real.says(c, " +- 1.90734863e-06 (n = 4, seed 7)");
}

TEST_CASE("common mistakes are recognised by the product that they produce") {
  for (const std::uint64_t seed : {6, 7}) {
    const example e(33, seed);
    CAPTURE(e.call.label);
    const int n = e.n;
    const auto c = e.product();
    const auto at = [&](const std::vector<float>& m, int row, int col) { return m[row * n + col]; };
    const auto product_of = [&](auto first, auto second) {
      return e.filled([&](int row, int col) {
        float sum = 0;
        for (int k = 0; k < n; ++k) sum = std::fma(first(row, k), second(k, col), sum);
        return sum;
      });
    };
    const auto a = [&](int row, int k) { return at(e.a, row, k); };
    const auto b = [&](int k, int col) { return at(e.b, k, col); };
    const auto a_t = [&](int row, int k) { return at(e.a, k, row); };
    const auto b_t = [&](int k, int col) { return at(e.b, col, k); };
    const auto old = std::bit_cast<float>(0xbfbfbfbf);

    e.says(std::vector<float>(c.size(), old), "nothing was written to c");
    e.says(e.filled([&](int row, int col) { return at(c, row, col) + old; }),
           "plus 0xbfbfbfbf, which filled c before the call");
    e.says(e.filled([&](int row, int col) { return at(c, col, row); }), "the product transposed");
    e.says(product_of(a_t, b), "this is transposed a times b");
    e.says(product_of(a, b_t), "this is a times transposed b");
    e.says(product_of(a_t, b_t), "this is transposed a times transposed b");
    e.says(product_of(b, a), "this is b times a");
    e.says(e.filled([&](int row, int col) { return at(e.a, row, col) * at(e.b, row, col); }),
           "this is a[row][col] * b[row][col]");
    e.says(e.filled([&](int row, int col) { return e.sum(row, col, 0, 32); }),
           "the last product is missing");
    e.says(e.filled([&](int row, int col) { return e.sum(row, col, 0, 28); }),
           "the last 5 products are missing");
    e.says(e.filled([&](int row, int col) { return e.sum(row, col, 1, 33); }),
           "the first product is missing");
    e.says(e.filled([&](int row, int col) { return row < 32 ? at(c, row, col) : old; }),
           "all of row 32 - does the grid round up in x and in y, is blockIdx in the index, and "
           "does the store use the row and column of its sum?");
    e.says(e.filled([&](int row, int col) { return at(c, row, col) + 1; }), "product plus 1: does");
    if (seed == 6)  // for real numbers, a sum need not be exact
      e.says(product_of([&](int row, int k) { return at(e.a, row, k); },
                        [&](int k, int col) { return at(e.a, k, col); }),
             "this is a times a");
    e.says(e.filled([&](int row, int col) { return row == col ? at(c, row, col) : old; }),
           "all but the diagonal");
    e.says(e.filled([&](int row, int col) { return col < 30 ? at(c, row, col) : old; }),
           "all of columns 30 to 32 - ");
    e.says(
        e.filled([&](int row, int col) { return std::max(row, col) < 32 ? at(c, row, col) : old; }),
        "65 of 1089 elements are wrong: all of row 32 and of column 32 - ");
    e.says(std::vector<float>(c.size(), 0), "does it add every product (+=, not =)");
    auto some = c;
    std::fill(some.begin(), some.begin() + 3, 0);
    e.says(some, "0 is stored in each of them: were their sums computed, for the same rows");
    e.says(e.filled([&](int row, int col) { return e.sum(row, col, 32, 33); }),
           "this is the product of the last k alone");
    e.says(std::vector<float>(c.size(), std::nanf("")), "nan comes from an operand");
    e.says(e.filled([&](int row, int col) { return 2 * at(c, row, col); }), "2 times the product");
    e.says(e.filled([&](int row, int col) { return at(c, row, col) * 1.001f; }),
           "less precise than float32");
  }
}

TEST_CASE("for elements that were stored, the message does not ask about their thread") {
  const example e(33);
  auto c = e.product();
  for (int row = 0; row < 33; ++row) c[row * 33 + 32] += 5;
  CHECK(e.verdict(c).ends_with("33 of 1089 elements are wrong: all of column 32"));
}

TEST_CASE("elements that an 8-bit index does not reach are recognised") {
  const example e(257);
  auto c = e.product();
  std::fill(c.begin() + 256 * 257, c.end(), std::bit_cast<float>(0xc5c5c5c5));
  e.says(c, "all of row 256 - does the grid round up, and is an index kept in 8 bits");
}

TEST_CASE("if the product is 0, bytes of the fill may also mean that the sum was added to them") {
  const auto old = std::bit_cast<float>(0xa5a5a5a5);
  const example e(129);
  auto c = e.product();
  const auto zero = std::find(c.begin(), c.end(), 0);
  REQUIRE(zero != c.end());
  *zero = old;
  e.says(c, "c was not written here, or the sum was added to it (+= instead of =)");
  c[0] = old;
  e.says(c, "not every element was written");
}

TEST_CASE("sums that continue the sums of another tile are recognised") {
  for (const std::uint64_t seed : {6, 7}) {
    const example e(33, seed);
    auto c = e.product();
    for (int col = 16; col < 33; ++col)
      for (int row = 0; row < 16; ++row) c[row * 33 + col] += c[row * 33 + col - 16];
    for (int row = 16; row < 33; ++row) c[row * 33] += 1;
    e.says(c, "c[row][col - 16] was added: is the sum set to 0 before the loop?");
    c[20] += 1;
    CHECK(e.verdict(c).find("was added") == std::string::npos);
  }
}

TEST_CASE("a tile or a row that is used in place of another is recognised") {
  for (const std::uint64_t seed : {6, 7}) {
    const example e(33, seed);
    const auto of = [&](auto k_of_a, auto k_of_b) {
      return e.filled([&](int row, int col) {
        float sum = 0;
        for (int k = 0; k < 33; ++k) sum += e.a[row * 33 + k_of_a(k)] * e.b[k_of_b(k) * 33 + col];
        return sum;
      });
    };
    const auto right = [](int k) { return k; };
    const auto again = [](int k) { return k % 16; };
    const auto fifth = [](int k) { return k == 7 ? 5 : k; };
    e.says(of(again, right), "the first tile of a is used again for k = 16 and on");
    e.says(of(right, again), "the first tile of b is used again for k = 16 and on");
    e.says(of(again, again), "the first tile of both a and b is used again for k = 16 and on");
    e.says(of(right, fifth), "this happens if row 5 of b is used in place of 7");
    e.says(of(fifth, right), "this happens if column 5 of a is used in place of 7");
    e.says(e.filled(
               [&](int row, int col) { return e.sum(row, col, 0, 20) + e.sum(row, col, 21, 33); }),
           "the products of k = 20 are missing");
  }
}

TEST_CASE("a thread's index in place of k is recognised, and a few wrong elements are not") {
  for (const std::uint64_t seed : {6, 7}) {
    const example e(33, seed);
    const auto b_at = [&](int k, int col) { return k < 33 && col < 33 ? e.b[k * 33 + col] : 0; };
    const auto of = [&](auto b) {
      return e.filled([&](int row, int col) {
        float sum = 0;
        for (int k = 0; k < 33; ++k) sum += e.a[row * 33 + k] * b(row, col, k);
        return sum;
      });
    };
    e.says(of([&](int, int col, int k) { return b_at(k / 16 * 16 + col % 16, col); }),
           "loaded from b's row k0 + threadIdx.x");
    e.says(of([&](int row, int col, int k) {
             return b_at(k / 16 * 16 + row % 16, col / 16 * 16 + k % 16);
           }),
           "the sum reads b_tile[threadIdx.y][k]");
    auto c = e.product();
    c[5] = e.sum(0, 5, 0, 32);
    CHECK(e.verdict(c).ends_with("seed " + std::to_string(seed) +
                                 "); 1 of 1089 elements is wrong, in no known pattern"));
  }
}

TEST_CASE("wrong sums in most places suggest the second tile, and in few places do not") {
  const example e(33);
  auto c = e.product();
  for (std::size_t i = 0; i < c.size(); ++i) c[i] += static_cast<float>(i % 7 * 1000);
  e.says(c, "is its first k in every index, and do all threads pass a barrier before it ");
  c = e.product();
  c[3] += 1000;
  CHECK(e.verdict(c).find("second tile") == std::string::npos);
}

TEST_CASE("further calls show which factors are multiplied, and where the products are stored") {
  // The explanation of a program whose element (row, col) is the sum of the products of
  // a[a_row(row, col)][k] and b_of(k, row, col).
  using index = std::function<int(int, int)>;
  const auto explained = [](int n, const index& a_row, const index& b_col, int seed = 7) {
    const example e(n, seed);
    const auto run = [&](const problem_call& call) -> std::optional<problem::results> {
      const auto* const a = reinterpret_cast<const float*>(call.buffers[0].data.data());
      const auto* const b = reinterpret_cast<const float*>(call.buffers[1].data.data());
      const auto c = e.filled([&](int row, int col) {
        float sum = 0;
        const int r = a_row(row, col), q = b_col(row, col);
        for (int k = 0; k < n && r < n && q < n; ++k) sum += a[r * n + k] * b[k * n + q];
        return sum;
      });
      const auto bytes = std::as_bytes(std::span(c));
      return problem::results{{bytes.begin(), bytes.end()}};
    };
    return e.lab.explain(e.call, *run(e.call), run);
  };
  const index row = [](int r, int) { return r; }, col = [](int, int q) { return q; };
  CHECK(explained(129, row, [](int, int q) { return q % 128; }) ==
        "c[0][128] is the product of row 0 of a and column 0 of b: does a thread use the same "
        "column where b is loaded, where the tile is read, and where the sum is stored?");
  CHECK(explained(
            15, [](int, int q) { return q / 4 * 4; }, col)
            .starts_with("c[0][4] is the product of row 4 of a and column 4 of b: does a thread "
                         "use the same row where a is loaded"));
  CHECK(explained(15, row, col) == "");
}

TEST_CASE("a kernel that stores 0 is wrong even for n = 1") {
  for (std::uint64_t seed = 1; seed < 40; ++seed) CHECK(example(1, seed).verdict({0}) != "");
}

TEST_CASE("an output of another size is refused") {
  const example e(8);
  CHECK(e.lab.check(e.call, {}).has_value());
}

}  // namespace matmul_problem_test
