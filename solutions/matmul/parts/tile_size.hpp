// The size of a block's tile of c: for 26_small_tiles.
#pragma once

#include "common/lab/ceil_div.hpp"

constexpr int part = 8;  // a thread computes part x part elements of c

// Rows and columns of c; columns of a and rows of b between two barriers.
template <int Rows, int Cols, int Depth>
struct tile_size {
  static constexpr int rows = Rows, cols = Cols, depth = Depth;
  static constexpr int threads = (rows / part) * (cols / part);

  // How many an n x n matrix has.
  static int tiles(int n) { return ceil_div(n, rows) * ceil_div(n, cols); }
};
