// Tests the gemm lab's inputs, both of its comparisons, and its messages about wrong products.
#include "common/lab/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "labs/gemm/product_check.hpp"
#include "labs/tests/problem_tests.hpp"

namespace gemm_problem_test {

using namespace stepwise;
using namespace stepwise::gemm_lab;

// The elements are integers if (m + n + k) / 8 + seed is even, and real numbers if it is odd.
struct example {
  example(int rows, int cols, int depth, std::uint64_t seed)
      : lab(problem_under_test()),
        m(rows),
        n(cols),
        k(depth),
        call(lab.make_call({m, n, k}, seed)) {
    for (const int i : {0, 1}) {
      const auto& data = call.buffers[i].data;
      std::vector<bf16> values(data.size() / sizeof(bf16));
      std::memcpy(values.data(), data.data(), data.size());
      for (const bf16 value : values) (i == 0 ? a : b).push_back(as_float(value));
    }
  }

  float sum(int row, int col, int first, int last) const {
    float sum = 0;
    for (int i = first; i < last; ++i) sum += a[row * k + i] * b[i * n + col];
    return sum;
  }

  std::vector<bf16> filled(const std::function<float(int, int)>& element) const {
    std::vector<bf16> c;
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < n; ++col) c.push_back(rounded(element(row, col)));
    }
    return c;
  }
  std::vector<bf16> product() const {
    return filled([&](int row, int col) { return sum(row, col, 0, k); });
  }

  // The message of check() about this result, or "" if the result is right.
  std::string verdict(const std::vector<bf16>& c) const {
    const auto bytes = std::as_bytes(std::span(c));
    return lab.check(call, std::span(&bytes, 1)).value_or("");
  }
  void says(const std::vector<bf16>& c, const std::string& phrase) const {
    const std::string text = verdict(c);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  const problem& lab;
  int m, n, k;
  problem_call call;
  std::vector<float> a, b;
};

TEST_CASE("rounding to bfloat16 goes to the nearest value, and to the even one of two") {
  CHECK(as_float(rounded(1.0f)) == 1.0f);
  CHECK(as_float(rounded(257.0f)) == 256.0f);
  CHECK(as_float(rounded(259.0f)) == 260.0f);
  CHECK(as_float(rounded(258.5f)) == 258.0f);
  CHECK(as_float(rounded(-259.0f)) == -260.0f);
  CHECK(as_float(rounded(0x1.fffp127f)) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(as_float(rounded(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("a call has the contract's buffers and scalars, and its size and seed decide its bytes") {
  const example e(16, 24, 40, 1), again(16, 24, 40, 1), other(16, 24, 40, 3);
  REQUIRE(e.call.buffers.size() == 3);
  CHECK(e.call.label == "16 x 24 x 40, seed 1");
  CHECK(e.call.scalars == std::vector<std::int64_t>{16, 24, 40});
  CHECK(e.call.buffers[0].bytes == 16 * 40 * 2);
  CHECK(e.call.buffers[1].bytes == 40 * 24 * 2);
  CHECK(e.call.buffers[2].bytes == 16 * 24 * 2);
  CHECK(e.call.buffers[0].data == again.call.buffers[0].data);
  CHECK(e.call.buffers[0].data != other.call.buffers[0].data);
  CHECK(e.lab.work({16, 24, 40}).operations == 2 * 16 * 24 * 40);
  CHECK(e.lab.work({16, 24, 40}).bytes == 2 * (16 * 40 + 40 * 24 + 16 * 24));
}

TEST_CASE("sizes that the contract excludes are refused") {
  const auto& lab = problem_under_test();
  for (const problem::size& size : std::vector<problem::size>{
           {8, 8}, {0, 8, 8}, {8, 12, 8}, {8, 8, 65544}, {65536, 32768, 8}, {-8, 8, 8}})
    CHECK_THROWS_AS(lab.make_call(size, 1), std::invalid_argument);
}

TEST_CASE("sums of whole numbers are exact, up to the largest k") {
  for (const int k : {8, 1024, 65536}) {
    const example e(8, 8, k, k / 8 % 2);
    double most = 0;
    for (const float value : e.a) {
      CHECK(value == std::trunc(value));
      most = std::max<double>(most, std::abs(value));
    }
    CHECK(most * most * k <= 0x1p24);
    CHECK(e.verdict(e.product()).empty());
  }
}

TEST_CASE("real sums in any order are right, and wrong ones are not") {
  const example e(40, 24, 4096, 1);
  REQUIRE(e.a[0] != std::trunc(e.a[0]));
  CHECK(e.verdict(e.product()).empty());
  CHECK(e.verdict(e.filled([&](int y, int x) {
           float sum = 0;
           for (int i = 0; i < e.k; i += 16) sum += e.sum(y, x, i, i + 16);
           return sum;
         })).empty());
  e.says(e.filled([&](int y, int x) {
    float sum = 0;
    for (int i = 0; i < e.k; i += 64) sum = as_float(rounded(sum + e.sum(y, x, i, i + 64)));
    return sum;
  }),
         "are sums kept in bfloat16");
}

TEST_CASE("common mistakes are named") {
  const example e(40, 40, 72, 1);
  REQUIRE(e.a[0] == std::trunc(e.a[0]));
  const auto at = [&](int y, int x) { return e.sum(y, x, 0, e.k); };
  e.says(std::vector<bf16>(e.m * e.n, 0xabab), "nothing was written to c");
  e.says(e.filled([](int, int) { return 0; }), "does the loop add products for this k");
  e.says(e.filled([](int, int) { return NAN; }), "nan comes from");
  e.says(e.filled([&](int y, int x) { return at(x, y); }), "this is the product transposed");
  e.says(e.filled([&](int y, int x) {
    float sum = 0;
    for (int i = 0; i < e.m; ++i) sum += e.b[y * e.n + i] * e.a[i * e.k + x];
    return sum;
  }),
         "this is b times a");
  e.says(e.filled([&](int y, int x) {
    float sum = 0;
    for (int i = 0; i < e.k; ++i)
      sum += e.a[y * e.k + i] * e.b[(i + std::size_t(x) * e.k) % e.b.size()];
    return sum;
  }),
         "a times transposed b");
  e.says(e.filled([&](int y, int x) { return 2 * at(y, x); }), "2 times the product");
  e.says(e.filled([&](int y, int x) { return e.sum(y, x, 0, 64); }),
         "the products from k = 64 on are missing");
  e.says(e.filled([&](int y, int x) { return e.sum(y, x, 64, 72); }),
         "the products before k = 64 are missing");
  e.says(e.filled([&](int y, int x) { return at(y, x) - e.sum(y, x, 16, 32); }),
         "the products of k = 16 to 31 are missing");
  e.says(
      e.filled([&](int y, int x) { return at(y, x) - e.sum(y, x, 16, 32) + e.sum(y, x, 0, 16); }),
      "the tiles of k = 0 are used again for k = 16");
  e.says(e.filled([&](int y, int x) {
    const float sum = at(y, x);
    return as_float(static_cast<bf16>(std::bit_cast<std::uint32_t>(sum) >> 16));
  }),
         "truncated, not rounded");
  auto edge = e.product();
  for (int i = 32 * e.n; i < e.m * e.n; ++i) edge[i] = 0xcdcd;
  e.says(edge, "all of rows 32 to 39");
}

TEST_CASE("mistakes with tiles in shared memory are named") {
  const example e(136, 72, 200, 1);
  REQUIRE(e.a[0] == std::trunc(e.a[0]));
  const auto a = [&](int y, int i) { return y < e.m && i < e.k ? e.a[y * e.k + i] : 0; };
  const auto b = [&](int i, int x) { return i < e.k && x < e.n ? e.b[i * e.n + x] : 0; };
  const auto product = [&](auto a, auto b, int end = 200) {
    return e.filled([&](int y, int x) {
      float sum = 0;
      for (int i = 0; i < end; ++i) sum += a(y, i) * b(i, x);
      return sum;
    });
  };
  CHECK(e.verdict(product(a, b)).empty());
  const auto swizzled = [](int row, int col) {
    return col - col % 64 + (col / 8 % 8 ^ row % 8) * 8 + col % 8;
  };
  e.says(product([&](int y, int i) { return a(y, swizzled(y, i)); }, b),
         "the tile of a is swizzled on one side only");
  e.says(product(a, [&](int i, int x) { return b(i, swizzled(i, x)); }),
         "the tile of b is swizzled on one side only");
  e.says(e.filled([&](int y, int x) {
    const int col = swizzled(y, x);
    return col < e.n ? e.sum(y, col, 0, e.k) : 0;
  }),
         "the tile of c is swizzled on one side only");
  e.says(product([&](int y, int i) { return a(i / 64 * 64 + y % 64, y / 64 * 64 + i % 64); }, b),
         "the row and the column of a's boxes are swapped");
  e.says(product([&](int y, int i) { return a(i / 64 * 64 + y % 128, y / 128 * 128 + i % 64); }, b),
         "the row and the column of a's boxes are swapped");
  e.says(product(a, [&](int i, int x) { return b(x / 64 * 64 + i % 64, i / 64 * 64 + x % 64); }),
         "the row and the column of b's boxes are swapped");
  e.says(product(a,
                 [&](int i, int x) {
                   const int byte = i % 64 / 16 * 2048 + i / 8 % 2 * 8192 + i % 8 * 128 +
                                    x % 128 / 64 * 1024 + x % 64 * 2;
                   return b(i / 64 * 64 + byte / 128 % 64,
                            x / 128 * 128 + byte / 8192 * 64 + byte % 128 / 2);
                 }),
         "the two distances in b's descriptor are swapped");
  const auto first = [](int i) { return i / 64 * 64 + i % 16; };
  e.says(product([&](int y, int i) { return a(y, first(i)); }, b), "the first 16 columns of a's");
  e.says(product(a, [&](int i, int x) { return b(first(i), x); }), "the first 16 rows of b's");
  e.says(product([&](int y, int i) { return a(y + i % 64 / 16 * 4, first(i)); }, b),
         "it counts units of 16 bytes");
  const auto upper = [](int i) { return i / 16 * 16 + i % 8; };
  e.says(product([&](int y, int i) { return a(upper(y), i); },
                 [&](int i, int x) { return b(upper(i), x); }),
         "upper 8 rows are loaded twice");
  e.says(product([&](int y, int i) { return a(i < e.k ? y : 0, i < e.k ? i : i % 8); },
                 [&](int i, int x) { return b(i < e.k ? i : 0, i < e.k ? x : x % 8); }, 256),
         "elements beyond k are copies of others");
  e.says(product([&](int y, int i) { return a(y, i < e.k ? i : e.k - 8 + i % 8); },
                 [&](int i, int x) { return b(std::min(i, e.k - 1), x); }, 208),
         "elements beyond k are copies of others");
}

TEST_CASE("a wrong row length is named") {
  const example e(40, 72, 24, 1);
  REQUIRE(e.a[0] == std::trunc(e.a[0]));
  const auto a = [&](int y, int i) { return e.a[y * e.k + i]; };
  const auto b = [&](int i, int x) { return e.b[i * e.n + x]; };
  const auto product = [&](auto a, auto b) {
    return e.filled([&](int y, int x) {
      float sum = 0;
      for (int i = 0; i < e.k; ++i) sum += a(y, i) * b(i, x);
      return sum;
    });
  };
  e.says(product(a, [&](int i, int x) { return e.b[i * e.k + x]; }),
         "the row length of b is k, not n");
  e.says(product(a, [&](int i, int x) { return x < e.k ? e.b[i * e.k + x] : 0; }),
         "the row length of b is k, not n");
  e.says(product(
             [&](int y, int i) {
               const std::size_t at = y * e.m + i;
               return at < e.a.size() ? e.a[at] : 0;
             },
             b),
         "the row length of a is m, not k");
  std::vector<bf16> c(e.m * e.n, 0xcdcd);
  for (int y = 0; y < e.m; ++y) {
    for (int x = 0; x < e.n; ++x) c[y * e.m + x] = rounded(e.sum(y, x, 0, e.k));
  }
  e.says(c, "the row length of c is m, not n");
}

TEST_CASE("a sum that is added to another value is named, and so is a sum at a wrong place") {
  const example e(120, 72, 40, 1);
  e.says(e.filled([&](int y, int x) { return as_float(0xc5c5) + e.sum(y, x, 0, e.k); }),
         "the product plus the value that filled c");
  e.says(e.filled([&](int y, int x) {
    return e.sum(y, x, 0, e.k) + (x < 32 ? 0 : e.sum(y, x - 32, 0, e.k)) +
           (x < 64 ? 0 : e.sum(y, x - 64, 0, e.k));
  }),
         "c[row][col - 32] was added");
  e.says(e.filled([&](int y, int x) { return e.sum((y + 64) % e.m, x, 0, e.k); }), "in no known");
  e.says(e.filled([&](int y, int x) { return e.sum(y % 64, x, 0, e.k); }),
         "the sums are right, but belong 64 rows up: ");
}

TEST_CASE("a wrong tile of a large product is found") {
  for (const std::uint64_t seed : {0, 1}) {
    const example e(1024, 1024, 256, seed);
    auto c = e.product();
    CHECK(e.verdict(c).empty());
    for (int y = 500; y < 516; ++y) {
      for (int x = 512; x < 640; ++x) c[y * e.n + x] = rounded(e.sum(y, x, 0, 128));
    }
    e.says(c, "gemm: ");
    c = e.product();
    c[1023 * e.n + 1023] = rounded(2 * e.sum(1023, 1023, 0, e.k) + 100);
    e.says(c, "c[1023][1023]");
  }
}

TEST_CASE("further calls show which elements of a and b are used, and where sums are stored") {
  struct place {
    int row, col;
  };
  using places = std::function<place(int, int)>;
  const places own = [](int row, int col) { return place{row, col}; };
  // The explanation of a program that uses these elements of a and b, and stores these sums.
  const auto explained = [](const places& of_a, const places& of_b, const places& of_c, int m = 16,
                            int n = 16, int k = 16, std::uint64_t seed = 0) {
    const example e(m, n, k, seed);
    const auto run = [&](const problem_call& call) -> std::optional<problem::results> {
      const auto value = [&](int input, place at, int rows, int cols) {
        if (at.row < 0 || at.row >= rows || at.col >= cols) return 0.f;
        const auto* const all = reinterpret_cast<const bf16*>(call.buffers[input].data.data());
        return as_float(all[at.row * cols + at.col]);
      };
      const auto c = e.filled([&](int row, int col) {
        const place from = of_c(row, col);
        float sum = 0;
        for (int i = 0; i < k; ++i)
          sum += value(0, of_a(from.row, i), m, k) * value(1, of_b(i, from.col), k, n);
        return sum;
      });
      const auto bytes = std::as_bytes(std::span(c));
      return problem::results{{bytes.begin(), bytes.end()}};
    };
    return e.lab.explain(e.call, *run(e.call), run);
  };
  // The lower left and the upper right quarter of each 16 x 16 tile are swapped.
  const places swapped = [](int row, int col) {
    const bool other = (row / 8 + col / 8) % 2 == 1;
    return other ? place{row ^ 8, col ^ 8} : place{row, col};
  };
  for (const std::uint64_t seed : {0, 1}) {
    CHECK(explained(own, swapped, own, 16, 16, 16, seed)
              .starts_with("the sums use b[8][0] instead of b[0][8], from the same 16 x 16 "
                           "tile of b: does each lane pass the row"));
    CHECK(explained(swapped, own, own, 40, 24, 72, seed)
              .starts_with("the sums use a[8][0] instead of a[0][8], from the same"));
  }
  CHECK(explained(own, own, swapped)
            .starts_with("c[0][8] holds the sum that belongs in c[8][0], in the same 16 x 16 "
                         "tile: does each lane store its sums"));
  CHECK(explained(
            [](int row, int col) {
              return place{row / 16 * 16, col};
            },
            own, own)
            .find("load the rows of a and store the rows of c that") != std::string::npos);
  CHECK(explained(
            own,
            [](int row, int col) {
              return place{row, col ^ 8};
            },
            own)
            .find("load the columns of b and store the columns of c that") != std::string::npos);
  const places shifted = [](int row, int col) { return place{row < 64 ? row : row - 63, col}; };
  CHECK(explained(shifted, own, own, 72, 56, 64) ==
        "the sums use a[1][0] instead of a[64][0]: is the offset of the warp or warpgroup "
        "right, and does it count whole rows?");
  CHECK(explained(
            own,
            [](int row, int col) {
              return place{(row + col / 64) % 64, col % 64};
            },
            own, 64, 128, 64)
            .find("b's tile has panels of 64 columns") != std::string::npos);
  CHECK(explained(own, own, own) == "");
  CHECK(explained(swapped, swapped, own) == "");
}

}  // namespace gemm_problem_test
