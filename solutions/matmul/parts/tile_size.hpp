// The size of a block's tile of c, for the steps from 26_small_tiles on.
#pragma once

#include "common/lab/ceil_div.hpp"

constexpr int thread_tile = 8;  // rows and columns of c per thread, unless stated otherwise

// Rows and columns of c; columns of a and rows of b between two barriers; a thread's rows of c.
template <int Rows, int Cols, int Depth, int ThreadRows = thread_tile>
struct tile_size {
  static constexpr int rows = Rows, cols = Cols, depth = Depth, thread_rows = ThreadRows;
  static constexpr int threads = (rows / thread_rows) * (cols / thread_tile);

  // The number of tiles of an n x n matrix.
  static int tiles(int n) { return ceil_div(n, rows) * ceil_div(n, cols); }
};
