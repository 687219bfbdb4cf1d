// The reference of the blur lab: its three stages on the CPU, and variants with a mistake in them.
//
// idea    Every stage is defined to the bit. A stage takes its arithmetic as a parameter, so
//         the same code also computes the result of a common mistake.
// tested  labs/blur/tests/problem_test.cpp
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/lab/in_bands.hpp"

namespace stepwise::blur_lab {

using byte = unsigned char;

// A single-colour picture that is black outside its bounds.
struct grey_picture {
  std::int64_t width = 0, height = 0;
  std::vector<byte> data;

  grey_picture(std::int64_t w, std::int64_t h) : width(w), height(h), data(w * h) {}
  int at(std::int64_t x, std::int64_t y) const {
    return x < 0 || y < 0 || x >= width || y >= height ? 0 : data[y * width + x];
  }
  // Sets every pixel to value(x, y), on all cores.
  template <class Value>
  void fill(const Value& value) {
    in_bands(height, 64 * width, [&](std::int64_t begin, std::int64_t end) {  // 64: work per pixel
      for (std::int64_t y = begin; y < end; ++y)
        for (std::int64_t x = 0; x < width; ++x) data[y * width + x] = value(x, y);
    });
  }
};

// The contract's grey value of a colour: red, green and blue are p[0], p[1] and p[2].
inline constexpr auto grey_value = [](const byte* p) {
  return std::fmaf(p[2], 0.114350f, std::fmaf(p[0], 0.298839f, p[1] * 0.586811f));
};

// The grey picture of 4 * width * height bytes; value(p) is the grey value of a colour.
template <class Value = decltype(grey_value)>
grey_picture grey_of(std::span<const std::byte> rgba, std::int64_t width, std::int64_t height,
                     const Value& value = grey_value) {
  grey_picture grey(width, height);
  grey.fill([&](std::int64_t x, std::int64_t y) {
    const auto* p = reinterpret_cast<const byte*>(rgba.data()) + 4 * (y * width + x);
    return static_cast<byte>(value(p));
  });
  return grey;
}

// How to blur. The defaults are the contract's; any other value is a mistake.
struct blur_rule {
  using weights = std::array<int, 7>;
  static constexpr weights pyramid = {1, 2, 3, 4, 3, 2, 1};
  weights across = pyramid, down = pyramid;  // the weights of columns, and those of rows
  int negative_from = 256;                   // grey values from here on count as 256 less
  int row_sum_mask = -1;                     // the bits that are kept of a row's sum
  int added = 0;                             // to the sum, before it is divided
  int divisor = 256;
  bool is_limited = false;            // a sum above 255 counts as 255; else, its low 8 bits count
  int columns_off = 0, rows_off = 0;  // of the pixels that are read
};

// Adds along the rows first, then along the columns. Integers make the order irrelevant. A
// function returns the rule, so that the compiler knows the values that are constants.
template <class Rule>
grey_picture blurred_by(const Rule& rule_of, const grey_picture& in) {
  grey_picture out(in.width, in.height);
  in_bands(in.height, 64 * in.width, [&](std::int64_t begin, std::int64_t end) {
    const blur_rule rule = rule_of();
    std::vector<int> rows((end - begin + 6) * in.width);  // starts at row begin - 3
    for (std::int64_t y = begin - 3; y < end + 3; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) {
        int sum = 0;
        for (int i = 0; i < 7; ++i) {
          const int grey = in.at(x + i - 3 + rule.columns_off, y + rule.rows_off);
          sum += rule.across[i] * (grey < rule.negative_from ? grey : grey - 256);
        }
        rows[(y - begin + 3) * in.width + x] = sum & rule.row_sum_mask;
      }
    }
    for (std::int64_t y = begin; y < end; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) {
        int sum = rule.added;
        for (int j = 0; j < 7; ++j) sum += rule.down[j] * rows[(y - begin + j) * in.width + x];
        sum = rule.divisor == 256 ? sum >> 8 : sum / rule.divisor;
        out.data[y * in.width + x] = static_cast<byte>(rule.is_limited ? std::min(sum, 255) : sum);
      }
    }
  });
  return out;
}
inline grey_picture blurred(const grey_picture& in) {
  return blurred_by([] { return blur_rule(); }, in);
}
inline grey_picture blurred(const grey_picture& in, const blur_rule& rule) {
  return blurred_by([&] { return rule; }, in);
}

// The contract's length of a gradient: truncated, at most 255.
inline constexpr auto edge_length = [](int gx, int gy) {
  const int square = gx * gx + gy * gy;
  auto root = static_cast<int>(std::sqrt(static_cast<double>(square)));
  while (root * root > square) --root;
  return std::min(root, 255);
};

// Sobel's weights of a column or a row.
struct sobel_weights {
  constexpr int operator[](int k) const { return k == 1 ? 2 : 1; }
};

// The edges of a picture; length(gx, gy) is an edge's value, of which the lowest 8 bits are kept.
// w[0] to w[2] are the weights. The pixels that are read are `columns_off` and `rows_off` away from
// the right ones.
template <class Length = decltype(edge_length), class Weights = sobel_weights>
grey_picture edges_of(const grey_picture& in, const Length& length = edge_length,
                      const Weights& w = {}, int columns_off = 0, int rows_off = 0) {
  grey_picture out(in.width, in.height);
  out.fill([&](std::int64_t x, std::int64_t y) {
    const auto at = [&](int dx, int dy) { return in.at(x + dx + columns_off, y + dy + rows_off); };
    int gx = 0, gy = 0;
    for (int k = 0; k < 3; ++k) {
      gx += w[k] * (at(1, k - 1) - at(-1, k - 1));
      gy += w[k] * (at(k - 1, 1) - at(k - 1, -1));
    }
    return static_cast<byte>(length(gx, gy));
  });
  return out;
}

}  // namespace stepwise::blur_lab
