// Moves pairs of tiles of a and b from global to shared memory and on to registers, as spelled out
// in 18_wide_addresses, for the steps from 19_whole_steps on.
//
// watch   The compiler allocates the loop's registers, and small changes affect the result, such as
//         a 64-bit pointer to the thread's first element of c instead of 32-bit indices, or an
//         offset that keeps a piece's place in its tile (solutions/matmul/DESIGN.md).
#pragma once

#include "solutions/matmul/parts/clamped_access.hpp"

// A block's data in shared memory for one step: `depth` columns of a and `depth` rows of b.
template <int rows, int cols, int depth>
struct tile_pair {
  alignas(16) float a[depth][rows + 4];  // transposed and padded
  alignas(16) float b[depth][cols];
};

// Fetches one thread's part of each pair, four floats at a time. n is a multiple of Multiple. The
// last row of a or column of b replaces those outside the matrices, which do not affect c. With
// Zeros, such columns of b are zeros, which no thread fetches.
template <int rows, int cols, int depth, int Threads, int Multiple, bool Zeros = false>
class pair_fetcher {
 public:
  static constexpr int threads = Threads;

  // For the tile of c at row0, col0. The first pair begins at column k of a, row k of b; k may be
  // negative, but more than -depth. The matrices are n x n, and tid is below threads.
  __device__ pair_fetcher(const float* a, const float* b, int n, int row0, int col0, int k, int tid)
      : n_(n),
        a_col_(4 * tid % depth),
        b_row_(4 * tid / cols),
        to_a_(a_col_ * (rows + 4) + 4 * tid / depth),
        to_b_(b_row_ * cols + 4 * tid % cols) {
    const int row = row0 + 4 * tid / depth, col = col0 + 4 * tid % cols;
    const int first_row = min(row, n - 1), first_col = quads && !Zeros ? min(col, n - 4) : col;
    for (int i = 0; i < a_pieces; ++i) below_[i] = (min(row + i * a_rows, n - 1) - first_row) * n;
    a_ = a + first_row * n_ + k + a_col_;
    b_ = b + (k + b_row_) * n_ + first_col;
    last_ = n - 1 - first_col;
  }

  // Requests the next pair: a's floats into registers, and b's into `to`. The copies belong to the
  // next __pipeline_commit().
  __device__ void fetch(tile_pair<rows, cols, depth>& to) {
    for (int i = 0; i < a_pieces; ++i) fetched_[i] = load4<quads>(a_ + below_[i]);
    for (int i = 0; i < depth; i += b_rows) copy_b(&to.b[0][0] + to_b_ + i * cols, b_ + i * n_);
    advance();
  }

  // Requests the first pair, whose first `missing` columns and rows lie before k = 0 and are zeros.
  // None is missing if Multiple is a multiple of depth.
  __device__ void fetch(tile_pair<rows, cols, depth>& to, int missing) {
    if constexpr (Multiple % depth == 0) {
      fetch(to);
    } else {
      for (int i = 0; i < a_pieces; ++i)
        fetched_[i] = load4<quads>(a_ + below_[i], missing - a_col_);
      for (int i = 0; i < depth; i += b_rows)
        copy_b(&to.b[0][0] + to_b_ + i * cols, b_ + i * n_, b_row_ + i >= missing);
      advance();
    }
  }

  // Waits for the floats of a that fetch() has requested, and stores them.
  __device__ void store(tile_pair<rows, cols, depth>& to) const {
    for (int i = 0; i < a_pieces; ++i) {
      const float of_row[] = {fetched_[i].x, fetched_[i].y, fetched_[i].z, fetched_[i].w};
      for (int k = 0; k < 4; ++k) (&to.a[0][0])[to_a_ + k * (rows + 4) + i * a_rows] = of_row[k];
    }
  }

 private:
  static constexpr bool quads = Multiple % 4 == 0;
  static constexpr int a_rows = 4 * threads / depth, b_rows = 4 * threads / cols;  // at a time
  static constexpr int a_pieces = rows / a_rows;
  static_assert(rows % a_rows == 0 && depth % b_rows == 0);

  __device__ void copy_b(float* to, const float* from, bool there = true) const {
    if constexpr (!Zeros) return copy4<quads>(to, from, last_, there);
    constexpr int bytes = quads ? 16 : 4;  // per copy
    for (int i = 0; i < 4; i += bytes / 4)
      __pipeline_memcpy_async(to + i, from + i, bytes, there && i <= last_ ? 0 : bytes);
  }

  __device__ void advance() {
    a_ += depth;
    b_ += depth * n_;
  }

  long long n_;
  int a_col_, b_row_;    // of the first piece, in its tile
  int to_a_, to_b_;      // offsets of those pieces in the tiles
  int below_[a_pieces];  // offsets from a_ of the rows of a that this thread fetches
  int last_;             // offset from b_ of the last float of b's row
  const float* a_;
  const float* b_;
  float4 fetched_[a_pieces];
};

// The places of a thread's thread_rows x 8 elements in its block's tile of c. A warp has 4
// thread_rows x 64 elements. Four neighbours at a time belong to a thread.
template <int cols, int thread_rows = 8>
struct thread_place {
  static constexpr int lanes_y = 4, lanes_x = 8, warps_x = cols / (8 * lanes_x);
  int y0, x0;  // of the first element

  __device__ explicit thread_place(int tid) {
    const int warp = tid / 32, lane = tid % 32;
    y0 = warp / warps_x * lanes_y * thread_rows + 4 * (lane / 16 * 2 + lane / 2 % 2);
    x0 = warp % warps_x * lanes_x * 8 + 4 * (lane / 4 % 4 * 2 + lane % 2);
  }
  // The distances of the other elements below and to the right of the first one.
  __device__ static int below(int i) { return i / 4 * 4 * lanes_y + i % 4; }
  __device__ static int right(int j) { return j / 4 * 4 * lanes_x + j % 4; }
};

// A barrier for the `threads` threads of one slice of a block.
template <int slices, int threads>
__device__ void sync_slice(int slice) {
  if constexpr (slices == 1) {
    __syncthreads();
  } else if constexpr (threads == 32) {
    __syncwarp();
  } else {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + slice), "n"(threads) : "memory");  // 0 is the block's
  }
}

// Adds the products of `steps` pairs, at least 1, to a thread's sums. The first `missing` columns
// and rows of the first pair count as 0; none is missing if Multiple is a multiple of depth. tiles:
// `stages` pairs in shared memory, possibly those of an earlier call. All threads of the slice take
// part, with the same number of steps. Fetcher: pair_fetcher, or a class with the same functions.
template <int stages, int slices = 1, class Fetcher, int rows, int cols, int depth, int thread_rows>
__device__ void add_products(float (&sum)[thread_rows][8], Fetcher& fetcher,
                             tile_pair<rows, cols, depth>* tiles, int steps, int missing,
                             const thread_place<cols, thread_rows>& place, int slice = 0) {
  constexpr int threads = Fetcher::threads;
  sync_slice<slices, threads>(slice);  // no thread reads the old contents
  for (int stage = 0; stage < stages - 1; ++stage) {
    if (stage < steps) {
      if (stage == 0) {
        fetcher.fetch(tiles[stage], missing);
      } else {
        fetcher.fetch(tiles[stage]);
      }
      fetcher.store(tiles[stage]);
    }
    __pipeline_commit();
  }
  __pipeline_wait_prior(stages - 2);   // waits for this thread's copies to all stages but the last
  sync_slice<slices, threads>(slice);  // the first tiles are there

  int now = 0, next_stage = stages - 1;  // the stages to read and to fill
  const float *a_now = &tiles[0].a[0][place.y0], *b_now = &tiles[0].b[0][place.x0];
  float a_k[2][thread_rows], b_k[2][8];  // even k, odd k
  const auto read_a = [&](int k, int i) {
    as_float4(a_k[k % 2][i]) =
        *reinterpret_cast<const float4*>(a_now + k % depth * (rows + 4) + place.below(i));
  };
  const auto read_b = [&](int k, int i) {
    as_float4(b_k[k % 2][i]) =
        *reinterpret_cast<const float4*>(b_now + k % depth * cols + place.right(i));
  };
  // The order of these reads and the way `now` advances below only change the registers that the
  // compiler allocates. The best forms were found by trying (solutions/matmul/DESIGN.md).
  const auto read = [&](int k) {
    if (stages == 2) {
      read_b(k, 0);
      read_b(k, 4);
      read_a(k, 0);
      read_a(k, 4);
    } else {
      read_b(k, 0);
      read_a(k, 0);
      read_b(k, 4);
      read_a(k, 4);
    }
    for (int i = 8; i < thread_rows; i += 4) read_a(k, i);
  };
  read(0);
  for (int step = 0; step < steps; ++step) {
    const bool more = step + stages - 1 < steps;
    if (more) fetcher.fetch(tiles[next_stage]);
    __pipeline_commit();
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (k == depth - 1) {
        if (more) fetcher.store(tiles[next_stage]);
        if (stages == 2) {  // after the last step, a stage is read that was filled before
          now = step + 1 < steps ? now ^ 1 : 0;
          next_stage ^= 1;
        } else {
          if (++now == min(stages, steps)) now = 0;
          if (++next_stage == stages) next_stage = 0;
        }
        a_now = &tiles[now].a[0][place.y0];
        b_now = &tiles[now].b[0][place.x0];
        __pipeline_wait_prior(stages - 2);
        sync_slice<slices, threads>(slice);  // the next tiles are there, the present ones are done
      }
      read(k + 1);
      for (int j = 0; j < 8; ++j) {
        for (int nth = 0; nth < thread_rows; ++nth) {
          const int i = j % 2 == 0 ? nth : thread_rows - 1 - nth;  // one operand stays
          sum[i][j] = fmaf(a_k[k % 2][i], b_k[k % 2][j], sum[i][j]);
        }
      }
    }
  }
}
