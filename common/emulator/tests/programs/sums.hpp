// Inputs and results of the block sums.
#pragma once

#include <vector>

inline std::vector<int> numbers_to_add(int n) {
  std::vector<int> values(n);
  unsigned state = 7;
  for (int& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<int>(state >> 16) % 2001 - 1000;
  }
  return values;
}

// The sums of each `length` consecutive values.
inline std::vector<int> sums_of_blocks(const std::vector<int>& values, int length) {
  std::vector<int> sums(values.size() / length);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i / length] += values[i];
  return sums;
}
