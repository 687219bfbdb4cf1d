// matmul 19_whole_steps: if n is a multiple of the depth, fetches need no tests.
//
// idea    Only the first pair of tiles can start before k = 0. It has its own fetch, and for
//         multiples of 16 that fetch is like all others. A property of n that is known at compile
//         time costs nothing at run time.
// gain    None: from n = 2048 on, it is slower, most of all at n = 3000, where the kernel takes 129
//         registers, one too many for four blocks. This step prepares those that follow.
// watch   A row of blocks needs all of b at once. From here on, a class and three
//         functions do what 18 spells out (parts/mainloop.hpp). The next steps are about
//         which block computes which tile.
// needs   Any n; faster for multiples of 4, and for multiples of 16.
// source  CUTLASS, whose main loop treats the ragged step first ("residue").
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/mainloop.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 64;        // of c per block
constexpr int depth = 16;       // columns of a, rows of b, between two barriers
constexpr int stages = 3;       // pairs of tiles in shared memory
constexpr int thread_tile = 8;  // rows and columns of c per thread
constexpr int threads = (rows / thread_tile) * (cols / thread_tile);

// n is a multiple of Multiple, which is 1, 4 or depth.
template <int Multiple>
__global__ void __launch_bounds__(threads, 3)  // 3 blocks at once: 168 registers per thread
    matmul_kernel(const float* __restrict__ a, const float* __restrict__ b, float* c, int n) {
  __shared__ tile_pair<rows, cols, depth> tiles[stages];
  const thread_place<cols> place(threadIdx.x);
  const int steps = (n + depth - 1) / depth, missing = steps * depth - n;  // before k = 0
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;

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
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 grid(ceil_div(n, cols), ceil_div(n, rows));
  //> todo: choose the kernel: for multiples of depth, without tests; for those of 4; for any n.
  const auto kernel = n % depth == 0 ? matmul_kernel<depth>
                      : n % 4 == 0   ? matmul_kernel<4>
                                     : matmul_kernel<1>;
  kernel<<<grid, threads>>>(a, b, c, n);
  check(cudaGetLastError());
  //<
}
