// transpose baseline: the CPU. Tiles are 16 x 16 floats, because 16 floats are a cache line, so
// full lines are read and written. A tile is transposed in vector registers, in four parts of 8
// x 8.
//
// watch   A large result bypasses the caches. Otherwise a line would be fetched before it is stored
//         to, which is half as much traffic again.
// source  Intel 64 and IA-32 Architectures Optimization Reference Manual, "8x8 Matrix Transpose".
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "common/cpu/clones.hpp"
#include "common/cpu/thread_team.hpp"
#include "labs/transpose/transpose.hpp"

namespace {

using row8 = float __attribute__((vector_size(32)));

constexpr int tile = 16;                     // floats along a side: a line of 64 bytes
constexpr int reach = 512;                   // columns that a thread takes at once in all its rows
constexpr std::int64_t cached = 32ll << 20;  // bytes of both matrices; more bypass the caches

struct matrices {
  const float* in;
  float* out;
  std::int64_t rows, cols;
  bool past_caches;  // out is large, and its rows begin at multiples of 64 bytes
};

// Indices 0 to 7 select lanes of a, and 8 to 15 select lanes of b.
template <int... lanes>
[[gnu::always_inline]] inline void pick(row8& to, const row8& a, const row8& b) {
#if __has_builtin(__builtin_shufflevector)
  to = __builtin_shufflevector(a, b, lanes...);
#else  // GCC before 12
  using lanes8 = int __attribute__((vector_size(32)));
  to = __builtin_shuffle(a, b, lanes8{lanes...});
#endif
}

// 8 rows of `from`, `stride` apart, become 8 columns of `to`. Pairs of rows exchange every second
// float, then every second pair, then halves.
[[gnu::always_inline]] inline void turn(const float* from, std::int64_t stride, float* to) {
  row8 a[8], b[8];
  for (int i = 0; i < 8; ++i) std::memcpy(&a[i], from + i * stride, sizeof a[i]);
  for (int i = 0; i < 8; i += 2) {
    pick<0, 8, 2, 10, 4, 12, 6, 14>(b[i], a[i], a[i + 1]);
    pick<1, 9, 3, 11, 5, 13, 7, 15>(b[i + 1], a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = i; j < i + 2; ++j) {
      pick<0, 1, 8, 9, 4, 5, 12, 13>(a[j], b[j], b[j + 2]);
      pick<2, 3, 10, 11, 6, 7, 14, 15>(a[j + 2], b[j], b[j + 2]);
    }
  }
  for (int i = 0; i < 4; ++i) {
    pick<0, 1, 2, 3, 8, 9, 10, 11>(b[i], a[i], a[i + 4]);
    pick<4, 5, 6, 7, 12, 13, 14, 15>(b[i + 4], a[i], a[i + 4]);
  }
  for (int i = 0; i < 8; ++i) std::memcpy(to + i * tile, &b[i], sizeof b[i]);
}

[[gnu::always_inline]] inline void whole_tile(const matrices& m, std::int64_t row,
                                              std::int64_t col) {
  alignas(64) float turned[tile * tile];
  for (int i = 0; i < tile; i += 8)
    for (int j = 0; j < tile; j += 8)
      turn(m.in + (row + i) * m.cols + col + j, m.cols, turned + j * tile + i);
  for (int j = 0; j < tile; ++j) {
    float* const to = m.out + (col + j) * m.rows + row;
    if (m.past_caches) {
      for (int i = 0; i < tile; i += 4) _mm_stream_ps(to + i, _mm_load_ps(turned + j * tile + i));
    } else {
      std::memcpy(to, turned + j * tile, sizeof(float) * tile);
    }
  }
}

// Transposes rows top to bottom - 1 and columns left to right - 1.
STEPWISE_CLONES void transpose_part(const matrices& m, std::int64_t top, std::int64_t bottom,
                                    std::int64_t left, std::int64_t right) {
  for (std::int64_t first = left; first < right; first += reach) {
    const std::int64_t last = std::min(first + reach, right);
    for (std::int64_t row = top; row < bottom; row += tile) {
      for (std::int64_t col = first; col < last; col += tile) {
        if (row + tile <= bottom && col + tile <= last) {
          whole_tile(m, row, col);
          continue;
        }
        for (std::int64_t x = col; x < std::min(col + tile, last); ++x)
          for (std::int64_t y = row; y < std::min(row + tile, bottom); ++y)
            m.out[x * m.rows + y] = m.in[y * m.cols + x];
      }
    }
  }
  _mm_sfence();
}

}  // namespace

void transpose(const float* in, float* out, int rows, int cols) {
  const std::int64_t bytes = 2 * std::int64_t{sizeof(float)} * rows * cols;
  const matrices m{in, out, rows, cols, bytes > cached && rows % tile == 0};
  if (rows >= cols) {
    stepwise::host::in_bands(rows, tile, [&](std::int64_t begin, std::int64_t end) {
      transpose_part(m, begin, end, 0, cols);
    });
  } else {
    stepwise::host::in_bands(cols, tile, [&](std::int64_t begin, std::int64_t end) {
      transpose_part(m, 0, rows, begin, end);
    });
  }
}
