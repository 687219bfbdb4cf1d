// Inputs and results of the matrix products: whole numbers, small enough that float sums are exact.
#pragma once

#include <vector>

// Row-major n x n; element i is a whole number in -4 ... 4 that depends on the seed.
inline std::vector<float> small_whole_numbers(int n, unsigned seed) {
  std::vector<float> values(static_cast<std::size_t>(n) * n);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int>(seed >> 24) % 9 - 4);
  }
  return values;
}

// c = a * b in whole numbers.
inline std::vector<float> exact_product(const std::vector<float>& a, const std::vector<float>& b,
                                        int n) {
  std::vector<float> c(static_cast<std::size_t>(n) * n);
  std::vector<int> row_sums(n);
  for (int row = 0; row < n; ++row) {
    std::fill(row_sums.begin(), row_sums.end(), 0);
    for (int k = 0; k < n; ++k) {
      const int left = static_cast<int>(a[row * n + k]);
      for (int col = 0; col < n; ++col) row_sums[col] += left * static_cast<int>(b[k * n + col]);
    }
    for (int col = 0; col < n; ++col) c[row * n + col] = static_cast<float>(row_sums[col]);
  }
  return c;
}
