// matmul baseline: the CPU. A tile of sums stays in vector registers throughout a slice of k. The
// slices of a and b that a tile reads are packed first, so that it reads memory in order. They stay
// in the caches: a strip of b in the first, a block of a in the second, all in the last.
//
// watch   Edges are padded with zeros, so every tile is whole. The excess is not stored.
// source  K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "common/cpu/thread_team.hpp"
#include "labs/matmul/matmul.hpp"

namespace {

using std::int64_t;
using stepwise::host::in_chunks;

constexpr int depth = 256;          // of a slice of k: a strip of b has at most 32 KiB
constexpr int block_rows = 72;      // of a, per thread at a time: 72 KiB; a multiple of all tiles
constexpr int block_cols = 256;     // of b; a multiple of all tiles
constexpr int most_cols = 1 << 14;  // of b, packed at a time: 16 MiB

// One slice: `k` rows of packed b and columns of packed a.
struct slice {
  const float *a, *b;
  float* c;
  int64_t n;
  int k;
  bool first;  // c holds nothing yet
};

// A way to compute a tile of `rows` x `cols` sums. tile() multiplies a strip of a by a strip of b:
// for each k, `rows` floats of a and `cols` floats of b.
struct kernel {
  int rows, cols;
  void (*tile)(const float* a, const float* b, int k, float* sums);
};

template <class Vector, int rows>
[[gnu::always_inline]] inline void add_up(const float* a, const float* b, int k, float* sums) {
  constexpr int lanes = sizeof(Vector) / sizeof(float);
  Vector sum[rows][2];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) sum[r][0] = sum[r][1] = Vector{};
  for (int i = 0; i < k; ++i) {
    Vector left, right;
    std::memcpy(&left, b, sizeof left);
    std::memcpy(&right, b + lanes, sizeof right);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      sum[r][0] += a[r] * left;  // one instruction where the CPU has it
      sum[r][1] += a[r] * right;
    }
    a += rows;
    b += 2 * lanes;
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r, sums += 2 * lanes) {
    std::memcpy(sums, &sum[r][0], sizeof(Vector));
    std::memcpy(sums + lanes, &sum[r][1], sizeof(Vector));
  }
}

// Sums take 24 of AVX-512's 32 registers, and 12 of the 16 registers of the others.
[[gnu::target("avx512f")]] void tile_avx512(const float* a, const float* b, int k, float* sums) {
  add_up<float __attribute__((vector_size(64))), 12>(a, b, k, sums);
}
[[gnu::target("avx2,fma")]] void tile_avx2(const float* a, const float* b, int k, float* sums) {
  add_up<float __attribute__((vector_size(32))), 6>(a, b, k, sums);
}
void tile_sse(const float* a, const float* b, int k, float* sums) {
  add_up<float __attribute__((vector_size(16))), 6>(a, b, k, sums);
}

kernel best_kernel() {
  if (__builtin_cpu_supports("avx512f")) return {12, 32, tile_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {6, 16, tile_avx2};
  return {6, 8, tile_sse};
}

int64_t round_up(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

// Packs rows row, row + 1, ... of a from column `from`: k columns of `rows` floats each.
void pack_a(const float* a, int64_t n, int64_t row, int64_t from, int k, int rows, float* to) {
  for (int r = 0; r < rows; ++r) {
    const bool there = row + r < n;
    const float* const line = a + (there ? row + r : 0) * n + from;
    for (int i = 0; i < k; ++i) to[i * rows + r] = there ? line[i] : 0;
  }
}

// Packs columns col, col + 1, ... of b from row `from`: k rows of `cols` floats each.
void pack_b(const float* b, int64_t n, int64_t col, int64_t from, int k, int cols, float* to) {
  const int64_t there = std::min<int64_t>(cols, n - col);
  for (int i = 0; i < k; ++i, to += cols) {
    std::memcpy(to, b + (from + i) * n + col, sizeof(float) * there);
    std::fill(to + there, to + cols, 0.0f);
  }
}

// Computes the block of c at (top, left). b is packed from column `base` on.
void multiply_block(const kernel& use, const slice& s, int64_t top, int64_t left, int64_t base) {
  alignas(64) float sums[12 * 32];
  const int64_t bottom = std::min<int64_t>(top + block_rows, s.n);
  const int64_t right = std::min<int64_t>(left + block_cols, s.n);
  for (int64_t col = left; col < right; col += use.cols) {
    for (int64_t row = top; row < bottom; row += use.rows) {
      use.tile(s.a + row * s.k, s.b + (col - base) * s.k, s.k, sums);
      const int64_t high = std::min<int64_t>(use.rows, s.n - row);
      const int64_t wide = std::min<int64_t>(use.cols, s.n - col);
      for (int64_t r = 0; r < high; ++r) {
        float* const to = s.c + (row + r) * s.n + col;
        const float* const from = sums + r * use.cols;
        if (s.first) {
          std::memcpy(to, from, sizeof(float) * wide);
        } else {
          for (int64_t x = 0; x < wide; ++x) to[x] += from[x];
        }
      }
    }
  }
}

// Memory that is kept for the next call, as in a library.
float* kept(int which, int64_t floats) {
  struct buffer {
    std::unique_ptr<float, decltype(&std::free)> start{nullptr, std::free};
    int64_t floats = 0;
  };
  static buffer buffers[2];
  buffer& b = buffers[which];
  if (b.floats < floats) {
    b.start.reset(static_cast<float*>(std::aligned_alloc(64, round_up(4 * floats, 64))));
    if (!b.start) throw std::bad_alloc();
    b.floats = floats;
  }
  return b.start.get();
}

}  // namespace

void matmul(const float* a, const float* b, float* c, int n) {
  static const kernel use = best_kernel();
  const int64_t strips_a = (n + use.rows - 1) / use.rows;
  const int64_t rows_of_blocks = (n + block_rows - 1) / block_rows;
  float* const packed_a = kept(0, strips_a * use.rows * depth);
  float* const packed_b = kept(1, round_up(std::min(n, most_cols), use.cols) * depth);
  for (int base = 0; base < n; base += most_cols) {
    const int cols = std::min(most_cols, n - base);
    const int64_t strips_b = (cols + use.cols - 1) / use.cols;
    const int64_t blocks = (cols + block_cols - 1) / block_cols;
    for (int from = 0; from < n; from += depth) {
      const int k = std::min(depth, n - from);
      in_chunks(strips_a + strips_b, [&](int64_t i) {
        if (i < strips_a) {
          pack_a(a, n, i * use.rows, from, k, use.rows, packed_a + i * use.rows * k);
        } else {
          const int64_t strip = i - strips_a;
          pack_b(b, n, base + strip * use.cols, from, k, use.cols, packed_b + strip * use.cols * k);
        }
      });
      const slice s{packed_a, packed_b, c, n, k, from == 0};
      in_chunks(rows_of_blocks * blocks, [&](int64_t i) {
        multiply_block(use, s, i % rows_of_blocks * block_rows,
                       base + i / rows_of_blocks * block_cols, base);
      });
    }
  }
}
