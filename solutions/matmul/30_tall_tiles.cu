// matmul 30_tall_tiles: tiles of 48 x 64, whose threads have 12 x 8 elements each.
//
// idea    n = 527 has 153 small tiles for 132 multiprocessors, or 81 medium ones. Either way, the
//         busiest multiprocessor has 4096 elements, but the average is 2104. A size in between has
//         99 tiles of 3072 elements. Such a tile fits a warp whose threads have 12 x 8 elements: 96
//         multiply-adds for five reads from shared memory, where 8 x 8 elements have 64 for four.
// watch   A thread needs 170 registers, so 12 warps fit: 1, 2 or 3 blocks per multiprocessor, one
//         per tile, so that all its tiles run at once. Four tiles run two at a time.
// needs   An n that the other sizes suit less. Times per round were measured again, on an H100.
// source  CUTLASS, whose threads may have any number of elements too.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/lane_fetcher.hpp"
#include "solutions/matmul/parts/store_sums.hpp"
#include "solutions/matmul/parts/stream_k.hpp"
#include "solutions/matmul/parts/tile_size.hpp"

constexpr int group = 16;  // rows of tiles that are done together
using large = tile_size<64, 128, 16>;
using medium = tile_size<64, 64, 16>;
using tall = tile_size<48, 64, 8, 12>;
using small = tile_size<32, 64, 8>;

// n is a multiple of Multiple: 1, 4 or slices * depth. Inside: no tile extends past the matrix.
template <class Size, class Shares, int stages, int slices, int blocks_per_sm, int Multiple,
          bool Inside>
__global__ void __launch_bounds__(slices* Size::threads, blocks_per_sm)
    matmul_kernel(const float* __restrict__ a, const float* __restrict__ b, float* c, int n) {
  constexpr int rows = Size::rows, cols = Size::cols, depth = Size::depth, threads = Size::threads;
  extern __shared__ float4 shared[];
  const int slice = slices > 1 ? threadIdx.x / threads : 0, tid = threadIdx.x - slice * threads;
  auto* const tiles = reinterpret_cast<tile_pair<rows, cols, depth>*>(shared) + slice * stages;
  const thread_place<cols, Size::thread_rows> place(tid);
  const int steps = (n + depth - 1) / depth, missing = steps * depth - n;  // before k = 0
  const int tiles_y = (n + rows - 1) / rows, tiles_x = (n + cols - 1) / cols;
  Shares share(tiles_y * tiles_x, steps);
  while (share.any_left()) {
    share.take();
    const int from = share.from, to = share.to, tile = share.tile;
    const int in_group = tile % (group * tiles_x), first_y = tile / (group * tiles_x) * group;
    const int group_y = min(group, tiles_y - first_y);  // the last group may have fewer rows
    const int tile_y = first_y + in_group % group_y, tile_x = in_group / group_y;
    const int top = tile_y * rows, left = tile_x * cols;  // this tile stores from here on
    int row0 = top, col0 = left;
    // Inside: the tile begins early enough to end within the matrix.
    if (Inside) {
      row0 = min(top, n - rows);
      col0 = min(left, n - cols);
    }
    const auto stored = [&](int row, int col) {
      return Inside ? row >= top && col >= left : row < n && col < n;
    };

    // All slices take as many steps as the longest. A shorter slice begins with a step of zeros.
    const int count = to - from, longest = (count + slices - 1) / slices;
    const int begin = from + (count * slice + slices - 1) / slices;
    const int first = from + (count * (slice + 1) + slices - 1) / slices - longest;
    const int zeros = first < begin ? depth : first == 0 ? missing : 0;
    float sum[Size::thread_rows][thread_tile] = {};
    fetcher_for<rows, cols, depth, threads, Multiple, Inside> fetcher(a, b, n, row0, col0,
                                                                      first * depth - missing, tid);
    add_products<stages, slices>(sum, fetcher, tiles, longest, zeros, place, slice);
    const int row = row0 + place.y0, col = col0 + place.x0;
    float* const first_sum = c + static_cast<long long>(row) * n + col;
    if constexpr (slices > 1)
      return store_slices<slices, threads>(sum, reinterpret_cast<float*>(shared) + tid, slice,
                                           place, c, n, row, col, stored);
    share.wait_for_beginning();
    for (int i = 0; i < Size::thread_rows; ++i) {
      for (int j = 0; j < thread_tile; ++j) {
        const int below = place.below(i), right = place.right(j);
        if (!stored(row + below, col + right)) continue;
        float* const element = first_sum + static_cast<long long>(below) * n + right;
        *element = from > 0 ? __ldcg(element) + sum[i][j] : sum[i][j];
      }
    }
    share.pass_on();
  }
}

// Inside: n is at least Size::cols, unless it is a multiple of 4.
template <class Size, class Shares, int stages, int slices, int per_sm, bool Inside = true>
void launch(int blocks, const float* a, const float* b, float* c, int n) {
  constexpr int whole = slices * Size::depth;
  const auto kernel = n % whole == 0
                          ? matmul_kernel<Size, Shares, stages, slices, per_sm, whole, false>
                      : n % 4 == 0 ? matmul_kernel<Size, Shares, stages, slices, per_sm, 4, false>
                                   : matmul_kernel<Size, Shares, stages, slices, per_sm, 1, Inside>;
  constexpr int pairs = stages * sizeof(tile_pair<Size::rows, Size::cols, Size::depth>);
  constexpr int sums = slices > 1 ? Size::rows * Size::cols * sizeof(float) : 0;
  constexpr int bytes = slices * std::max(pairs, sums);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<blocks, slices * Size::threads, bytes>>>(a, b, c, n);
  check(cudaGetLastError());
}

void matmul(const float* a, const float* b, float* c, int n) {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int small_tiles = small::tiles(n);
  if (n < small::cols) return launch<small, one_tile, 2, 8, 2, false>(small_tiles, a, b, c, n);
  const int tiles = large::tiles(n), large_rounds = ceil_div(tiles, sms);
  if (large_rounds > 4 && 100 * tiles < 97 * sms * large_rounds) {  // the last round is not full
    const int steps = tiles * ceil_div(n, large::depth);
    const int blocks = std::min({steps, 3 * sms, most_blocks});
    return launch<large, equal_shares, 3, 1, 3>(blocks, a, b, c, n);
  }
  // The time that the rounds of each size take. A large tile also takes longer to start.
  const int with_small = 42 * ceil_div(small_tiles, sms);
  const int with_medium = 81 * ceil_div(medium::tiles(n), sms);
  const int with_large = 140 * large_rounds + 20;
  //> todo: choose the fastest size; run 1, 2 or 3 blocks of tall tiles per multiprocessor.
  const int tall_tiles = tall::tiles(n), rounds = ceil_div(tall_tiles, sms);
  if (59 * rounds < std::min({with_small, with_medium, with_large})) {
    if (rounds == 1) return launch<tall, one_tile, 2, 8, 1>(tall_tiles, a, b, c, n);
    if (rounds == 2 || rounds == 4) return launch<tall, one_tile, 2, 6, 2>(tall_tiles, a, b, c, n);
    return launch<tall, one_tile, 2, 4, 3>(tall_tiles, a, b, c, n);
  }
  if (n < large::cols || with_small <= std::min(with_medium, with_large))
    return launch<small, one_tile, 2, 8, 2>(small_tiles, a, b, c, n);
  if (with_medium < with_large)
    return launch<medium, one_tile, 2, 4, 2>(medium::tiles(n), a, b, c, n);
  //<
  if (tiles <= sms) return launch<large, one_tile, 2, 4, 1>(tiles, a, b, c, n);
  launch<large, one_tile, 2, 1, 4>(tiles, a, b, c, n);
}
