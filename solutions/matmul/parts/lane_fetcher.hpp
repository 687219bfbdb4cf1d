// Fetches a thread's part of each pair of tiles where the rows of a and b begin anywhere, for the
// steps from 27_lane_copies on.
#pragma once

#include <type_traits>

#include "solutions/matmul/parts/mainloop.hpp"

// Has pair_fetcher's functions, for any n. Neighbouring lanes copy neighbouring floats, those of a
// straight to their transposed places. Rows of a and columns of b outside the matrices are zeros,
// which no thread fetches. Inside: there are none, since row0 + rows <= n and col0 + cols <= n.
template <int rows, int cols, int depth, int Threads, bool Inside = false>
class lane_fetcher {
 public:
  static constexpr int threads = Threads;

  // For the tile of c at row0, col0. k and tid are as for a pair_fetcher.
  __device__ lane_fetcher(const float* a, const float* b, int n, int row0, int col0, int k, int tid)
      : n_(n),
        a_col_(tid % depth),
        b_row_(tid / 32),
        to_a_(a_col_ * (rows + 4) + tid / depth),
        to_b_(b_row_ * cols + tid % 32),
        rows_left_(n - row0 - tid / depth),
        cols_left_(n - col0 - tid % 32),
        a_(a + (row0 + tid / depth) * n_ + k + a_col_),
        b_(b + (k + b_row_) * n_ + col0 + tid % 32) {}

  __device__ void fetch(tile_pair<rows, cols, depth>& to) { copy<false>(to, 0); }

  __device__ void fetch(tile_pair<rows, cols, depth>& to, int missing) { copy<true>(to, missing); }

  __device__ void store(tile_pair<rows, cols, depth>& /*to*/) const {}

 private:
  static constexpr int a_rows = threads / depth, b_rows = threads / 32;  // at a time
  static_assert(rows % a_rows == 0 && depth % b_rows == 0 && cols % 32 == 0);

  template <bool Missing>
  __device__ void copy(tile_pair<rows, cols, depth>& to, int missing) {
    for (int i = 0; i < rows; i += a_rows)
      copy_or_zero(&to.a[0][0] + to_a_ + i, a_ + i * n_,
                   (!Missing || a_col_ >= missing) && (Inside || i < rows_left_));
    for (int i = 0; i < depth; i += b_rows)
      for (int j = 0; j < cols; j += 32)
        copy_or_zero(&to.b[0][0] + to_b_ + i * cols + j, b_ + i * n_ + j,
                     (!Missing || b_row_ + i >= missing) && (Inside || j < cols_left_));
    a_ += depth;
    b_ += depth * n_;
  }

  __device__ static void copy_or_zero(float* to, const float* from, bool there) {
    __pipeline_memcpy_async(to, from, sizeof(float), there ? 0 : sizeof(float));
  }

  long long n_;
  int a_col_, b_row_;          // of the first float, in its tile
  int to_a_, to_b_;            // offsets of those floats in the tiles
  int rows_left_, cols_left_;  // in the matrices, from there on
  const float* a_;
  const float* b_;
};

// The fetcher for an n that is a multiple of Multiple.
template <int rows, int cols, int depth, int threads, int Multiple, bool Inside = false>
using fetcher_for =
    std::conditional_t<Multiple % 4 == 0,
                       pair_fetcher<rows, cols, depth, threads, Multiple, Multiple % depth != 0>,
                       lane_fetcher<rows, cols, depth, threads, Inside>>;
