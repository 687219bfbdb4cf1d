// Ways to check whether c = a * b, for matrices of bfloat16 in row-major order.
//
// idea    Small products are computed again in double precision. For large ones, some rows are
//         computed again, and c is multiplied by a random vector x: c x and a (b x) must agree up
//         to rounding, so a wrong tile shows, wherever it is.
// source  R. Freivalds, "Probabilistic Machines Can Use Less Running Time" (1977)
// tested  labs/gemm/tests/problem_test.cpp
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/lab/random.hpp"

namespace stepwise::gemm_lab {

using bf16 = std::uint16_t;  // the upper half of a float's bits

inline float as_float(bf16 bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

// Rounds to the nearest bfloat16, and to the even one if two are equally near.
inline bf16 rounded(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7fff;
  return static_cast<bf16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The kind of numbers in a and b. It decides how exact c must be.
enum class kind {
  whole,  // integers so small that every sum is exact in float32: c must be the rounded sum
  real,   // random numbers from [-1, 1]: c may be off by largest_error()
};

struct product {
  int m = 0, n = 0, k = 0;
  std::span<const float> a, b;
  std::span<const bf16> c;
  kind of = kind::whole;

  std::size_t at(int row, int col) const { return static_cast<std::size_t>(row) * n + col; }
  float found(int row, int col) const { return as_float(c[at(row, col)]); }
};

// The largest error of a sum of k products of random numbers from [-1, 1], before it is rounded.
//
// A product of two bfloat16 numbers is exact in float32. The partial sum of m products has a root
// mean square of sqrt(m) / 3. If every addition truncates, as tensor cores do, it loses at most
// 2^-23 of the partial sum, on average half of that, and always towards 0. In the worst order, one
// addition after the other, these losses add up to 2^-24 times the sum of sqrt(m) / 3 for m up to
// k, which is 0.22 * 2^-24 * k^1.5. Some sums stray four times as far from 0 as their root mean
// square; the bound leaves a factor of two beyond that.
inline double largest_sum_error(int k) { return 0x1p-23 * k * std::sqrt(k); }

// Rounding to bfloat16, with 8 bits of precision, adds at most 2^-8 of the sum.
inline double largest_error(int k, double expected) {
  const double of_sum = largest_sum_error(k);
  return of_sum + 0x1p-8 * (std::abs(expected) + of_sum);
}

// Returns false for a NaN.
inline bool is_right(const product& p, float found, double expected) {
  if (p.of == kind::whole) return found == as_float(rounded(static_cast<float>(expected)));
  return std::abs(found - expected) <= largest_error(p.k, expected);
}

inline double expected_element(const product& p, int row, int col) {
  double sum = 0;
  for (int i = 0; i < p.k; ++i)
    sum += double(p.a[std::size_t(row) * p.k + i]) * p.b[std::size_t(i) * p.n + col];
  return sum;
}

// Row `row` of a * b in double precision, which is exact for whole numbers.
inline void expected_row(const product& p, int row, std::vector<double>& out) {
  out.assign(p.n, 0);
  for (int i = 0; i < p.k; ++i) {
    const double a = p.a[std::size_t(row) * p.k + i];
    const float* const b = &p.b[std::size_t(i) * p.n];
    for (int col = 0; col < p.n; ++col) out[col] += a * b[col];
  }
}

struct wrong_element {
  int row = 0, col = 0;
  double expected = 0;
  bool whole_row = false;  // only the row as a whole is wrong: no element is out of bounds
};

// The first wrong element of a row; nullopt if the row is right.
inline std::optional<wrong_element> compare_row(const product& p, int row,
                                                std::vector<double>& expected) {
  expected_row(p, row, expected);
  for (int col = 0; col < p.n; ++col) {
    if (!is_right(p, p.found(row, col), expected[col]))
      return wrong_element{row, col, expected[col]};
  }
  return std::nullopt;
}

// The first wrong element in row-major order; nullopt if c is right. Takes m n k multiplications.
inline std::optional<wrong_element> compare_all(const product& p) {
  std::vector<double> expected;
  for (int row = 0; row < p.m; ++row) {
    if (const auto wrong = compare_row(p, row, expected)) return wrong;
  }
  return std::nullopt;
}

// A row in which c x differs from a (b x) by more than rounding, for random signs x. The signs make
// the rounding errors of a row's elements add up like a random walk, so the allowed difference is
// 8 sqrt(n) times their root mean square, at most a quarter of the largest.
inline std::optional<int> suspicious_row(const product& p, random_stream& random) {
  std::vector<double> x(p.n), bx(p.k, 0);
  for (auto& sign : x) sign = random.next() % 2 == 0 ? 1 : -1;
  double squares_of_b = 0;
  for (int i = 0; i < p.k; ++i) {
    for (int col = 0; col < p.n; ++col) {
      const double b = p.b[std::size_t(i) * p.n + col];
      bx[i] += b * x[col];
      squares_of_b += b * b;
    }
  }
  for (int row = 0; row < p.m; ++row) {
    double right = 0, squares_of_a = 0, found = 0;
    for (int i = 0; i < p.k; ++i) {
      const double a = p.a[std::size_t(row) * p.k + i];
      right += a * bx[i];
      squares_of_a += a * a;
    }
    for (int col = 0; col < p.n; ++col) found += p.found(row, col) * x[col];
    const double element = std::sqrt(squares_of_a * squares_of_b / p.n / p.k);  // expected size
    const double most = 2 * std::sqrt(p.n) * (largest_sum_error(p.k) + 0x1p-8 * element);
    if (!(std::abs(found - right) <= most)) return row;
  }
  return std::nullopt;
}

// Like compare_all(), but with about 2^29 multiplications; the wrong element need not be the first.
inline std::optional<wrong_element> compare_quickly(const product& p, random_stream random) {
  std::vector<double> expected;
  const double steps_of_row = double(p.n) * p.k;
  const int rows = std::max(2, static_cast<int>(0x1p28 / steps_of_row));
  for (int i = 0; i < rows; ++i) {
    const int row = i < 2 ? i * (p.m - 1) : static_cast<int>(random.next() % p.m);
    if (const auto wrong = compare_row(p, row, expected)) return wrong;
  }
  // The last columns, where ragged tiles are, and random elements.
  for (int i = 0; i < 512; ++i) {
    const int row = random.next() % p.m;
    const int col = i % 2 == 0 ? p.n - 1 - random.next() % 8 : random.next() % p.n;
    const double sum = expected_element(p, row, col);
    if (!is_right(p, p.found(row, col), sum)) return wrong_element{row, col, sum};
  }
  if (const auto row = suspicious_row(p, random)) {
    const auto wrong = compare_row(p, *row, expected);
    return wrong ? wrong : wrong_element{*row, 0, 0, true};
  }
  return std::nullopt;
}

}  // namespace stepwise::gemm_lab
