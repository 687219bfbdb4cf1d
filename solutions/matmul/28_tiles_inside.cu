// matmul 28_tiles_inside: tiles that would end outside the matrix begin earlier, and end with it.
//
// idea    Only the last tiles of a row or column of tiles need tests and zeros in the loop, but all
//         tiles pay for them: two instructions per copy that may write zeros. If the last tiles
//         begin early enough to end with the matrix, every float that they fetch exists. Elements
//         that two tiles compute are stored only by the first of them.
// watch   The last tiles compute elements for nothing; these elements used to lie outside it. If n
//         is a multiple of 4, there are four times fewer copies, and there is little to gain.
// needs   A matrix of at least one tile. Smaller matrices keep the tests.
// source  The same trick handles the end of an array in vector code on CPUs.
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
  const thread_place<cols> place(tid);
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
    //> todo: Inside: let the tile begin early enough to end within the matrix.
    // Inside: the tile begins early enough to end within the matrix.
    if (Inside) {
      row0 = min(top, n - rows);
      col0 = min(left, n - cols);
    }
    //<
    const auto stored = [&](int row, int col) {
      return Inside ? row >= top && col >= left : row < n && col < n;
    };

    // All slices take as many steps as the longest. A shorter slice begins with a step of zeros.
    const int count = to - from, longest = (count + slices - 1) / slices;
    const int begin = from + (count * slice + slices - 1) / slices;
    const int first = from + (count * (slice + 1) + slices - 1) / slices - longest;
    const int zeros = first < begin ? depth : first == 0 ? missing : 0;
    float sum[thread_tile][thread_tile] = {};
    fetcher_for<rows, cols, depth, threads, Multiple, Inside> fetcher(a, b, n, row0, col0,
                                                                      first * depth - missing, tid);
    add_products<stages, slices>(sum, fetcher, tiles, longest, zeros, place, slice);
    const int row = row0 + place.y0, col = col0 + place.x0;
    float* const first_sum = c + static_cast<long long>(row) * n + col;
    if constexpr (slices > 1)
      return store_slices<slices, threads>(sum, reinterpret_cast<float*>(shared) + tid, slice,
                                           place, c, n, row, col, stored);
    share.wait_for_beginning();
    for (int i = 0; i < thread_tile; ++i) {
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
  const int tiles = large::tiles(n), steps = tiles * ceil_div(n, large::depth);
  if (tiles > 4 * sms) {
    const int blocks = std::min({steps, 3 * sms, most_blocks});
    return launch<large, equal_shares, 3, 1, 3>(blocks, a, b, c, n);
  }
  // Three rounds of small tiles take as long as one round of large tiles.
  if (n < large::cols || ceil_div(small_tiles, sms) <= 3 * ceil_div(tiles, sms))
    return launch<small, one_tile, 2, 8, 2>(small_tiles, a, b, c, n);
  if (tiles <= sms) return launch<large, one_tile, 2, 4, 1>(tiles, a, b, c, n);
  launch<large, one_tile, 2, 1, 4>(tiles, a, b, c, n);
}
