// matmul 20_tile_groups: blocks that run at the same time share rows of a and columns of b.
//
// idea    Hundreds of blocks run at once. If they take the tiles row after row, they need few rows
//         of a and all of b. In groups of 16 rows of tiles, column after column, they need fewer
//         rows and columns in total, and find floats in L2 that another block has read. That is
//         faster up to n = 2048, and gains nothing from 4096 on.
// watch   Tiles rarely divide evenly: in the last wave, some multiprocessors have no work.
// needs   Any n; faster for multiples of 4, and for multiples of 16.
// source  The grouped order of matrix products, e.g. in the tutorials of Triton.
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

// n is a multiple of Multiple, which is 1, 4 or depth.
template <int Multiple>
__global__ void __launch_bounds__(threads, 3)  // 3 blocks at once: 168 registers per thread
    matmul_kernel(const float* __restrict__ a, const float* __restrict__ b, float* c, int n) {
  __shared__ tile_pair<rows, cols, depth> tiles[stages];
  const thread_place<cols> place(threadIdx.x);
  const int steps = (n + depth - 1) / depth, missing = steps * depth - n;  // before k = 0
  //> todo: number the tiles column after column, in groups of 16 rows of tiles; compute one.
  const int tiles_y = (n + rows - 1) / rows, tiles_x = (n + cols - 1) / cols;
  const int tile = blockIdx.x;
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
  //<
}

void matmul(const float* a, const float* b, float* c, int n) {
  const int tiles = ceil_div(n, cols) * ceil_div(n, rows);
  const auto kernel = n % depth == 0 ? matmul_kernel<depth>
                      : n % 4 == 0   ? matmul_kernel<4>
                                     : matmul_kernel<1>;
  kernel<<<tiles, threads>>>(a, b, c, n);
  check(cudaGetLastError());
}
