// Two ways to check whether c = a * b, for matrices of n x n floats in row-major order.
//
// idea    Small matrices are multiplied again, and every element is compared. A CPU needs minutes
//         to do that for large ones, so there c is multiplied by random vectors x, which takes n^2
//         steps. If c is wrong, c x and a (b x) differ, except by an unlikely coincidence.
// source  R. Freivalds, "Probabilistic Machines Can Use Less Running Time" (1977).
// tested  labs/matmul/tests/problem_test.cpp
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/lab/random.hpp"

namespace stepwise::matmul_lab {

// The kind of number in a and b. It decides how exact c must be.
enum class kind {
  whole,  // integers so small that a sum in float32 is exact in any order: c must be equal
  real,   // random numbers from [-1, 1]: c may be off by largest_error(n)
};

struct matrices {
  int n = 0;
  std::span<const float> a, b, c;
  kind of = kind::whole;
};

struct wrong_element {
  int row = 0, col = 0;
  double expected = 0;
  bool whole_row = false;  // only the row as a whole is wrong: no element is out of bounds
};

// 8 n u, where u = 2^-24 is the largest relative error of one rounding.
//
// The derivation uses root mean squares (RMS). The sum of m products of random numbers from [-1, 1]
// is sqrt(m) / 3. An addition's rounding error is at most u times its sum; if it is uniform between
// -u and u times the sum, its RMS is u sqrt(m) / (3 sqrt(3)). The squares of independent errors add
// up. In the worst order, one addition after the other, m is 2, 3, ... n, so the square of the RMS
// error of an element is the sum of u^2 m / 27, about n^2 u^2 / 54: the error is 0.14 n u. (It is
// 0.10 n u for 20 000 sums of 1024 products, because most rounding errors are smaller.) The worst
// of 250 000 elements was off by 1.2 n u, because some sums stray further from 0. Up to n = 8, with
// few random terms, the bound is never below n u times the sum of all |a| |b|. TF32 operands cause
// errors of about 2^-14 sqrt(n), which exceeds the bound up to n = 16384.
inline double largest_error(int n) { return 8.0 * n * 0x1p-24; }

// Returns false for a NaN.
inline bool is_right(const matrices& m, float found, double expected) {
  return m.of == kind::whole ? found == expected : std::abs(found - expected) <= largest_error(m.n);
}

// Row `row` of a * b in double precision, which is exact for whole numbers.
inline void expected_row(const matrices& m, int row, std::vector<double>& out) {
  const std::size_t n = m.n;
  out.assign(n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    const double a = m.a[row * n + k];
    const float* const b = &m.b[k * n];
    for (std::size_t col = 0; col < n; ++col) out[col] += a * b[col];
  }
}

// The first wrong element of a row; nullopt if the row is right.
inline std::optional<wrong_element> compare_row(const matrices& m, int row,
                                                std::vector<double>& expected) {
  expected_row(m, row, expected);
  const float* const c = &m.c[std::size_t(row) * m.n];
  for (int col = 0; col < m.n; ++col) {
    if (!is_right(m, c[col], expected[col])) return wrong_element{row, col, expected[col]};
  }
  return std::nullopt;
}

// The first wrong element in row-major order; nullopt if c is right. Takes n^3 steps.
inline std::optional<wrong_element> compare_all(const matrices& m) {
  std::vector<double> expected;
  for (int row = 0; row < m.n; ++row) {
    if (const auto wrong = compare_row(m, row, expected)) return wrong;
  }
  return std::nullopt;
}

namespace detail {

// Integers wrap around, which keeps sums exact modulo 2^64. Real numbers are added in double.
template <class Number>
Number number_of(float value) {
  if constexpr (std::is_same_v<Number, double>) return value;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

template <class Number>
std::vector<Number> times(std::span<const float> matrix, const std::vector<Number>& x) {
  const std::size_t n = x.size();
  std::vector<Number> y(n);
  for (std::size_t row = 0; row < n; ++row) {
    Number sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += number_of<Number>(matrix[row * n + k]) * x[k];
    y[row] = sum;
  }
  return y;
}

// A row in which c x differs from a (b x).
inline std::optional<int> suspicious_row(const matrices& m, random_stream& random) {
  if (m.of == kind::whole) {
    std::vector<std::uint64_t> x(m.n);
    for (auto& value : x) value = random.next();
    const auto right = times(m.a, times(m.b, x)), found = times(m.c, x);
    const auto [at, other] = std::mismatch(found.begin(), found.end(), right.begin());
    if (at == found.end()) return std::nullopt;
    return static_cast<int>(at - found.begin());
  }
  std::vector<double> x(m.n);
  for (auto& value : x) value = random.next() % 2 == 0 ? 1 : -1;
  const auto right = times(m.a, times(m.b, x)), found = times(m.c, x);
  const double most = largest_error(m.n) * std::sqrt(m.n);
  for (int row = 0; row < m.n; ++row) {
    if (!(std::abs(found[row] - right[row]) <= most)) return row;
  }
  return std::nullopt;
}

}  // namespace detail

// Like compare_all, but in about 6 n^2 steps; the wrong element need not be the first. If c is
// right, the result is nullopt. Whole numbers hide a wrong row with probability 2^-38. Real numbers
// may hide errors that add up to less than sqrt(n) largest_error(n) in every row.
inline std::optional<wrong_element> compare_quickly(const matrices& m, random_stream random) {
  const std::size_t n = m.n;
  std::vector<double> expected;
  // The arithmetic below needs integers that float32 represents exactly. Anything else is wrong.
  if (m.of == kind::whole) {
    for (std::size_t i = 0; i < n * n; ++i) {
      if (!(std::abs(m.c[i]) <= 0x1p24f) || m.c[i] != std::trunc(m.c[i]))
        return compare_row(m, static_cast<int>(i / n), expected);
    }
  }
  // Checks the corners, where ragged tiles are, and random elements one by one.
  for (int i = 0; i < 64; ++i) {
    const int row = i < 4 ? i / 2 * (m.n - 1) : random.next() % n;
    const int col = i < 4 ? i % 2 * (m.n - 1) : random.next() % n;
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += double(m.a[row * n + k]) * m.b[k * n + col];
    if (!is_right(m, m.c[row * n + col], sum)) return wrong_element{row, col, sum};
  }
  for (int vector = 0; vector < 2; ++vector) {
    if (const auto row = detail::suspicious_row(m, random)) {
      const auto wrong = compare_row(m, *row, expected);
      return wrong ? wrong : wrong_element{*row, 0, 0, true};
    }
  }
  return std::nullopt;
}

}  // namespace stepwise::matmul_lab
