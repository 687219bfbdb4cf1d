// matmul 27_lane_copies: if n is not a multiple of 4, neighbouring lanes copy neighbouring floats.
//
// idea    For such n, a row of a or b may begin at any float, so a copy moves only one float. Until
//         now, a thread copied four neighbours one by one. The lanes' floats were 16 bytes apart,
//         so all sectors of a row were requested four times, and four lanes stored to one bank. Now
//         adjacent lanes copy adjacent floats, those of a to their places in the transposed tile.
// watch   There are still four times as many copies as for a multiple of 4, which stays as it was.
//         All of them pass through L1, which reads the operands from shared memory, too.
// needs   Nothing new.
// source  The rule of 02_row, that neighbouring threads should access neighbouring words.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/lane_fetcher.hpp"
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
    //> todo: if n is not a multiple of 4, use a lane_fetcher.
    fetcher_for<rows, cols, depth, threads, Multiple> fetcher(a, b, n, row0, col0,
                                                              first * depth - missing, tid);
    add_products<stages, slices>(sum, fetcher, tiles, longest, zeros, place, slice);
    //<
    const int row = row0 + place.y0, col = col0 + place.x0;
    float* const first_sum = c + static_cast<long long>(row) * n + col;
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
  // Three rounds of small tiles take as long as one round of large tiles.
  if (ceil_div(small::tiles(n), sms) <= 3 * ceil_div(tiles, sms))
    return launch<small, one_tile, 2, 8, 2>(small::tiles(n), a, b, c, n);
  if (tiles <= sms) return launch<large, one_tile, 2, 4, 1>(tiles, a, b, c, n);
  launch<large, one_tile, 2, 1, 4>(tiles, a, b, c, n);
}
