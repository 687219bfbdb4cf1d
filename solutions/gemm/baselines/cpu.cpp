// gemm baseline: the CPU. Both matrices become floats once; then every core adds rows of b, scaled
// by elements of a, to tiles of sums that stay in its first-level cache.
//
// watch   Few CPUs multiply bfloat16 numbers directly, so this is a product in float32 whose result
//         is rounded.
// source  K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008).
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "common/cpu/thread_team.hpp"
#include "labs/gemm/gemm.hpp"

namespace {

using std::int64_t;
using stepwise::host::in_bands;

constexpr int tile_rows = 4;    // of sums, which the compiler keeps in vector registers
constexpr int tile_cols = 64;   // of sums
constexpr int64_t slice = 256;  // rows of b at a time: 64 KiB for 64 columns

float as_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

std::uint16_t rounded(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::vector<float> floats_of(const __nv_bfloat16* matrix, int64_t count) {
  const auto* const bits = reinterpret_cast<const std::uint16_t*>(matrix);
  std::vector<float> values(count);
  in_bands(count, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) values[i] = as_float(bits[i]);
  });
  return values;
}

// Adds the products of k from `first` to `last` to a tile of sums.
void add_products(float (&sums)[tile_rows][tile_cols], const float* a, const float* b, int rows,
                  int cols, int64_t n, int64_t k, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) {
    const float* const b_row = b + i * n;
    for (int y = 0; y < rows; ++y) {
      const float factor = a[y * k + i];
      for (int x = 0; x < cols; ++x) sums[y][x] += factor * b_row[x];
    }
  }
}

}  // namespace

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const std::vector<float> fa = floats_of(a, int64_t(m) * k), fb = floats_of(b, int64_t(k) * n);
  auto* const out = reinterpret_cast<std::uint16_t*>(c);
  const int64_t bands = (m + tile_rows - 1) / tile_rows;
  in_bands(bands, 1, [&](int64_t begin, int64_t end) {
    for (int64_t col = 0; col < n; col += tile_cols) {
      const int cols = static_cast<int>(std::min<int64_t>(tile_cols, n - col));
      for (int64_t band = begin; band < end; ++band) {
        const int64_t row = band * tile_rows;
        const int rows = static_cast<int>(std::min<int64_t>(tile_rows, m - row));
        float sums[tile_rows][tile_cols] = {};
        for (int64_t first = 0; first < k; first += slice)
          add_products(sums, &fa[row * k], &fb[col], rows, cols, n, k, first,
                       std::min<int64_t>(k, first + slice));
        for (int y = 0; y < rows; ++y) {
          for (int x = 0; x < cols; ++x) out[(row + y) * n + col + x] = rounded(sums[y][x]);
        }
      }
    }
  });
}
