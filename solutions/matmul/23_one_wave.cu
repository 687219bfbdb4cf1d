// matmul 23_one_wave: if all tiles can run at once, they do.
//
// idea    Each border between shares costs a few steps. Blocks with shares are at different k, so
//         they find less in L2. Up to an n of about 2000, there are at most four tiles per
//         multiprocessor. With two stages instead of three, and with 128 registers per thread,
//         there is room for four blocks, and each takes one tile.
// watch   Below an n of about 1000, there is less than one tile per multiprocessor.
// needs   As before.
// source  Measured for this course.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/mainloop.hpp"
#include "solutions/matmul/parts/stream_k.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 64;        // of c per block
constexpr int depth = 16;       // columns of a, rows of b, between two barriers
constexpr int group = 16;       // rows of tiles that are done together
constexpr int thread_tile = 8;  // rows and columns of c per thread
constexpr int threads = (rows / thread_tile) * (cols / thread_tile);

// n is a multiple of Multiple, which is 1, 4 or depth.
template <class Shares, int stages, int blocks_per_sm, int Multiple>
__global__ void __launch_bounds__(threads, blocks_per_sm)
    matmul_kernel(const float* __restrict__ a, const float* __restrict__ b, float* c, int n) {
  __shared__ tile_pair<rows, cols, depth> tiles[stages];
  const thread_place<cols> place(threadIdx.x);
  const int steps = (n + depth - 1) / depth, missing = steps * depth - n;  // before k = 0
  const int tiles_y = (n + rows - 1) / rows, tiles_x = (n + cols - 1) / cols;
  Shares share(tiles_y * tiles_x, steps);
  while (share.any_left()) {
    share.take();
    const int from = share.from, to = share.to, tile = share.tile;
    const int in_group = tile % (group * tiles_x), first_y = tile / (group * tiles_x) * group;
    const int group_y = min(group, tiles_y - first_y);  // the last group may have fewer rows
    const int tile_y = first_y + in_group % group_y, tile_x = in_group / group_y;
    const int row0 = tile_y * rows, col0 = tile_x * cols;

    float sum[thread_tile][thread_tile] = {};
    pair_fetcher<rows, cols, depth, threads, Multiple> fetcher(a, b, n, row0, col0,
                                                               from * depth - missing, threadIdx.x);
    add_products<stages>(sum, fetcher, tiles, to - from, from == 0 ? missing : 0, place);
    share.wait_for_beginning();

    const int row = row0 + place.y0, col = col0 + place.x0;
    float* const first_sum = c + static_cast<long long>(row) * n + col;
    for (int i = 0; i < thread_tile; ++i) {
      for (int j = 0; j < thread_tile; ++j) {
        const int below = place.below(i), right = place.right(j);
        if (row + below >= n || col + right >= n) continue;
        float* const element = first_sum + static_cast<long long>(below) * n + right;
        *element = from > 0 ? __ldcg(element) + sum[i][j] : sum[i][j];
      }
    }
    share.pass_on();
  }
}

template <class Shares, int stages, int per_sm>
void launch(int blocks, const float* a, const float* b, float* c, int n) {
  const auto kernel = n % depth == 0 ? matmul_kernel<Shares, stages, per_sm, depth>
                      : n % 4 == 0   ? matmul_kernel<Shares, stages, per_sm, 4>
                                     : matmul_kernel<Shares, stages, per_sm, 1>;
  kernel<<<blocks, threads>>>(a, b, c, n);
  check(cudaGetLastError());
}

void matmul(const float* a, const float* b, float* c, int n) {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int tiles = ceil_div(n, cols) * ceil_div(n, rows), steps = tiles * ceil_div(n, depth);
  //> todo: use one_tile, with two stages, if four blocks per multiprocessor are enough.
  if (tiles > 4 * sms) {
    const int blocks = std::min({steps, 3 * sms, most_blocks});
    return launch<equal_shares, 3, 3>(blocks, a, b, c, n);
  }
  launch<one_tile, 2, 4>(tiles, a, b, c, n);
  //<
}
