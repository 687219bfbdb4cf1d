// matmul 21_persistent_blocks: a block that has finished its tile takes the next one.
//
// idea    The launch has as many blocks as run at once, and they go through the tiles. Work that
//         does not depend on the tile is done once, and nothing waits for a block to end and a new
//         one to start. It gains little, because at these depths a tile takes long. But now the
//         blocks know their number, and can divide the work in ways other than by tiles.
// watch   At n = 4096 the last wave has 68 tiles, so half of the multiprocessors have none. At
//         n = 2048, 512 tiles on 396 slots are slower than step 20, of which four blocks fit on a
//         multiprocessor. n = 6144 is a little slower, too: the twelfth wave is two thirds full.
// needs   As before.
// source  The "persistent" kernels of CUTLASS.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/mainloop.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 64;        // of c per block
constexpr int depth = 16;       // columns of a, rows of b, between two barriers
constexpr int stages = 3;       // pairs of tiles in shared memory
constexpr int group = 16;       // rows of tiles that are done together
constexpr int thread_tile = 8;  // rows and columns of c per thread
constexpr int threads = (rows / thread_tile) * (cols / thread_tile);
constexpr int blocks_per_sm = 3;  // 168 registers per thread

// n is a multiple of Multiple, which is 1, 4 or depth.
template <int Multiple>
__global__ void __launch_bounds__(threads, blocks_per_sm)
    matmul_kernel(const float* __restrict__ a, const float* __restrict__ b, float* c, int n) {
  __shared__ tile_pair<rows, cols, depth> tiles[stages];
  const thread_place<cols> place(threadIdx.x);
  const int steps = (n + depth - 1) / depth, missing = steps * depth - n;  // before k = 0
  const int tiles_y = (n + rows - 1) / rows, tiles_x = (n + cols - 1) / cols;
  const int blocks = gridDim.x, block = blockIdx.x;
  int tile = block;
  while (tile < tiles_y * tiles_x) {
    const int in_group = tile % (group * tiles_x), first_y = tile / (group * tiles_x) * group;
    const int group_y = min(group, tiles_y - first_y);  // the last group may have fewer rows
    const int tile_y = first_y + in_group % group_y, tile_x = in_group / group_y;
    const int row0 = tile_y * rows, col0 = tile_x * cols;

    float sum[thread_tile][thread_tile] = {};
    pair_fetcher<rows, cols, depth, threads, Multiple> fetcher(a, b, n, row0, col0, -missing,
                                                               threadIdx.x);
    add_products<stages>(sum, fetcher, tiles, steps, missing, place);

    const int row = row0 + place.y0, col = col0 + place.x0;
    float* const first_sum = c + static_cast<long long>(row) * n + col;
    for (int i = 0; i < thread_tile; ++i) {
      for (int j = 0; j < thread_tile; ++j) {
        const int below = place.below(i), right = place.right(j);
        if (row + below >= n || col + right >= n) continue;
        float* const element = first_sum + static_cast<long long>(below) * n + right;
        *element = sum[i][j];
      }
    }
    //> todo: advance to this block's next tile.
    tile += blocks;
    //<
  }
}

void matmul(const float* a, const float* b, float* c, int n) {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int tiles = ceil_div(n, cols) * ceil_div(n, rows);
  //> todo: launch as many blocks as run at once, but no more than there are tiles.
  const int blocks = std::min(tiles, sms * blocks_per_sm);
  const auto kernel = n % depth == 0 ? matmul_kernel<depth>
                      : n % 4 == 0   ? matmul_kernel<4>
                                     : matmul_kernel<1>;
  kernel<<<blocks, threads>>>(a, b, c, n);
  check(cudaGetLastError());
  //<
}
