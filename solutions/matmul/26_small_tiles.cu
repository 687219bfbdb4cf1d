// matmul 26_small_tiles: tiles are smaller where large ones are too few, or a few too many.
//
// idea    n = 300 has 15 tiles, so 117 of 132 multiprocessors idle. n = 1100 has 162 tiles, so 30
//         of them compute two tiles while the others idle. With tiles of 32 x 64, the busiest
//         multiprocessor has less to do. Such a tile takes 32 threads: a slice is a warp, which
//         needs no barrier of the block, and a block has 8 slices. All threads of a block add up
//         the sums and store them.
// watch   Twice as many blocks fetch every float, from L2. Three rounds of small tiles take as long
//         as one of tiles four times as large, because every start and end costs time.
// needs   64 KB of shared memory per block, for two blocks.
// source  CUTLASS, whose tile is a parameter; cuBLAS chooses among many tiles by the size of n.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/mainloop.hpp"
#include "solutions/matmul/parts/stream_k.hpp"
#include "solutions/matmul/parts/tile_size.hpp"

constexpr int group = 16;  // rows of tiles that are done together
using large = tile_size<64, 128, 16>;
using small = tile_size<32, 64, 8>;

// n is a multiple of Multiple, which is 1, 4 or slices * depth.
template <class Size, class Shares, int stages, int slices, int blocks_per_sm, int Multiple>
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
    const int row0 = tile_y * rows, col0 = tile_x * cols;

    // All slices take as many steps as the longest. A shorter slice begins with a step of zeros.
    const int count = to - from, longest = (count + slices - 1) / slices;
    const int begin = from + (count * slice + slices - 1) / slices;
    const int first = from + (count * (slice + 1) + slices - 1) / slices - longest;
    const int zeros = first < begin ? depth : first == 0 ? missing : 0;
    float sum[thread_tile][thread_tile] = {};
    constexpr bool zeros_beyond = Multiple % depth != 0;
    pair_fetcher<rows, cols, depth, threads, Multiple, zeros_beyond> fetcher(
        a, b, n, row0, col0, first * depth - missing, tid);
    add_products<stages, slices>(sum, fetcher, tiles, longest, zeros, place, slice);
    const int row = row0 + place.y0, col = col0 + place.x0;
    float* const first_sum = c + static_cast<long long>(row) * n + col;
    //> todo: let each slice add up and store every `slices`-th of a thread's sums.
    // Each slice adds up and stores every `slices`-th of a thread's sums.
    if constexpr (slices > 1) {
      float* const space = reinterpret_cast<float*>(shared) + tid;
      __syncthreads();  // no thread needs the tiles any more
      for (int e = 0; e < thread_tile * thread_tile; ++e)
        space[(slice * thread_tile * thread_tile + e) * threads] =
            sum[e / thread_tile][e % thread_tile];
      __syncthreads();  // all sums are stored
      for (int i = 0; i < thread_tile * thread_tile;
           i += slices) {  // constant bounds: all loads in flight
        const int e = i + slice;
        float total = 0;
        for (int s = 0; s < slices; ++s)
          total += space[(s * thread_tile * thread_tile + e) * threads];
        const int below = place.below(e / thread_tile), right = place.right(e % thread_tile);
        if (row + below < n && col + right < n)
          first_sum[static_cast<long long>(below) * n + right] = total;
      }
      return;
    }
    //<
    share.wait_for_beginning();
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

template <class Size, class Shares, int stages, int slices, int per_sm>
void launch(int blocks, const float* a, const float* b, float* c, int n) {
  constexpr int whole = slices * Size::depth;
  const auto kernel = n % whole == 0 ? matmul_kernel<Size, Shares, stages, slices, per_sm, whole>
                      : n % 4 == 0   ? matmul_kernel<Size, Shares, stages, slices, per_sm, 4>
                                     : matmul_kernel<Size, Shares, stages, slices, per_sm, 1>;
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
  const int tiles = large::tiles(n), steps = tiles * ceil_div(n, large::depth);
  if (tiles > 4 * sms) {
    const int blocks = std::min({steps, 3 * sms, most_blocks});
    return launch<large, equal_shares, 3, 1, 3>(blocks, a, b, c, n);
  }
  //> todo: choose small tiles if they pay: three of their rounds take as long as one of large ones.
  // Three rounds of small tiles take as long as one round of large tiles.
  if (ceil_div(small::tiles(n), sms) <= 3 * ceil_div(tiles, sms))
    return launch<small, one_tile, 2, 8, 2>(small::tiles(n), a, b, c, n);
  //<
  if (tiles <= sms) return launch<large, one_tile, 2, 4, 1>(tiles, a, b, c, n);
  launch<large, one_tile, 2, 1, 4>(tiles, a, b, c, n);
}
