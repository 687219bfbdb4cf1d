// matmul 24_sliced_k: for small matrices, four groups of threads share a tile's sums.
//
// idea    Up to an n of about 1000, there is at most one tile per multiprocessor, and four warps
//         cannot keep it busy. Four groups of threads therefore compute the same tile. Each takes a
//         quarter of the steps, with its own tiles in shared memory and its own barrier. Then the
//         first group adds up the sums of all groups.
// watch   The start, the end, and operands in the same register bank are all that remains.
// needs   As before, but multiples of 64 instead of 16 for small n; 100 KB of shared memory.
// source  A. Kerr et al., "CUTLASS: Fast Linear Algebra in CUDA C++" (2017): "sliced-K".
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/add_slices.hpp"
#include "solutions/matmul/parts/mainloop.hpp"
#include "solutions/matmul/parts/stream_k.hpp"

constexpr int cols = 128;       // of c per block
constexpr int rows = 64;        // of c per block
constexpr int depth = 16;       // columns of a, rows of b, between two barriers
constexpr int group = 16;       // rows of tiles that are done together
constexpr int thread_tile = 8;  // rows and columns of c per thread
constexpr int threads = (rows / thread_tile) * (cols / thread_tile);

// n is a multiple of Multiple, which is 1, 4 or slices * depth.
template <class Shares, int stages, int slices, int blocks_per_sm, int Multiple>
__global__ void __launch_bounds__(slices* threads, blocks_per_sm)
    matmul_kernel(const float* __restrict__ a, const float* __restrict__ b, float* c, int n) {
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
    pair_fetcher<rows, cols, depth, threads, Multiple> fetcher(a, b, n, row0, col0,
                                                               first * depth - missing, tid);
    add_products<stages, slices>(sum, fetcher, tiles, longest, zeros, place, slice);
    //> todo: add the sums of the other slices to those of the first.
    add_slices<slices, threads>(sum, reinterpret_cast<float*>(shared), slice, tid);
    //<
    share.wait_for_beginning();

    const int row = row0 + place.y0, col = col0 + place.x0;
    float* const first_sum = c + static_cast<long long>(row) * n + col;
    for (int i = 0; i < thread_tile; ++i) {
      for (int j = 0; j < thread_tile; ++j) {
        const int below = place.below(i), right = place.right(j);
        if (slice > 0 || row + below >= n || col + right >= n) continue;
        float* const element = first_sum + static_cast<long long>(below) * n + right;
        *element = from > 0 ? __ldcg(element) + sum[i][j] : sum[i][j];
      }
    }
    share.pass_on();
  }
}

template <class Shares, int stages, int slices, int per_sm>
void launch(int blocks, const float* a, const float* b, float* c, int n) {
  constexpr int whole = slices * depth;
  const auto kernel = n % whole == 0 ? matmul_kernel<Shares, stages, slices, per_sm, whole>
                      : n % 4 == 0   ? matmul_kernel<Shares, stages, slices, per_sm, 4>
                                     : matmul_kernel<Shares, stages, slices, per_sm, 1>;
  constexpr int bytes = slices * stages * sizeof(tile_pair<rows, cols, depth>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<blocks, slices * threads, bytes>>>(a, b, c, n);
  check(cudaGetLastError());
}

void matmul(const float* a, const float* b, float* c, int n) {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int tiles = ceil_div(n, cols) * ceil_div(n, rows), steps = tiles * ceil_div(n, depth);
  if (tiles > 4 * sms) {
    const int blocks = std::min({steps, 3 * sms, most_blocks});
    return launch<equal_shares, 3, 1, 3>(blocks, a, b, c, n);
  }
  if (tiles <= sms) return launch<one_tile, 2, 4, 1>(tiles, a, b, c, n);
  launch<one_tile, 2, 1, 4>(tiles, a, b, c, n);
}
