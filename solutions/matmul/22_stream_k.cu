// matmul 22_stream_k: every block takes the same number of steps.
//
// idea    As many blocks as run at once take whole tiles, wave after wave. They divide the rest,
//         one to two waves of tiles, by steps of depth, so a share may start and end within a
//         tile's sum. The block with the beginning of a sum stores it in c and sets a flag. The
//         block with the rest adds its part.
// watch   A block waits only for the block before it. That block first computes the sum that it
//         hands over, because shares are processed from their ends. Below an n of about 2000, this
//         is slower, because each block has few steps and communication outweighs the work.
// needs   As before, and no two calls at once: they would use each other's flags.
// source  M. Osama et al., "Stream-K: Work-Centric Parallel Decomposition for Dense Matrix-Matrix
//         Multiplication on the GPU" (2023).
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/fixup.hpp"
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
  int round = max(0, tiles_y * tiles_x / blocks - 1);  // rounds of whole tiles, still to do
  const int first_shared = round * blocks;
  const long long shared = static_cast<long long>(tiles_y * tiles_x - first_shared) * steps;
  const int begin = shared * block / blocks;
  int end = shared * (block + 1) / blocks;
  while (round > 0 || end > begin) {
    int tile, from = 0, to = steps;  // this block's steps of the tile
    if (round > 0) {
      tile = --round * blocks + block;
    } else {
      tile = (end - 1) / steps;
      to = end - tile * steps;
      from = max(0, begin - tile * steps);
      end = tile * steps + from;
      tile += first_shared;
    }
    const int in_group = tile % (group * tiles_x), first_y = tile / (group * tiles_x) * group;
    const int group_y = min(group, tiles_y - first_y);  // the last group may have fewer rows
    const int tile_y = first_y + in_group % group_y, tile_x = in_group / group_y;
    const int row0 = tile_y * rows, col0 = tile_x * cols;

    float sum[thread_tile][thread_tile] = {};
    pair_fetcher<rows, cols, depth, threads, Multiple> fetcher(a, b, n, row0, col0,
                                                               from * depth - missing, threadIdx.x);
    //> todo: add the products of these steps; then wait until the sum's beginning is in c.
    add_products<stages>(sum, fetcher, tiles, to - from, from == 0 ? missing : 0, place);
    if (from > 0) wait_for(block - 1);
    //<

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
    if (to < steps) hand_on(block);
  }
}

void matmul(const float* a, const float* b, float* c, int n) {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int tiles = ceil_div(n, cols) * ceil_div(n, rows), steps = tiles * ceil_div(n, depth);
  const int blocks = std::min({steps, sms * blocks_per_sm, most_blocks});
  const auto kernel = n % depth == 0 ? matmul_kernel<depth>
                      : n % 4 == 0   ? matmul_kernel<4>
                                     : matmul_kernel<1>;
  kernel<<<blocks, threads>>>(a, b, c, n);
  check(cudaGetLastError());
}
