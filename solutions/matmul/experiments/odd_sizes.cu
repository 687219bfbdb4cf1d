// matmul, experiment odd_sizes: fetching where n is no multiple of 4, and dividing a few tiles.
//
// idea    A row begins at any float then, so floats are fetched one by one. In 24_sliced_k a thread
//         still fetches four neighbours, in four accesses, each of which takes one float in four of
//         what the warp's lanes lie in. With `neighbours` the lanes of a warp fetch neighbouring
//         floats: as many accesses, each of few sectors.
// watch   `plan` divides the product: 0 as 24_sliced_k; 1 shares of steps for blocks of one slice;
//         2 for blocks of two slices; 3 for blocks of four. Where there are a few more tiles than
//         multiprocessors, a block for each tile leaves many of them idle at the end.
// tested  Compared with the reference by `./lab sweep matmul odd_sizes`.
#include <algorithm>
#include <type_traits>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"
#include "solutions/matmul/parts/mainloop.hpp"
#include "solutions/matmul/parts/stream_k.hpp"

constexpr int neighbours = 1;  // 0: as 24_sliced_k fetches
constexpr int plan = 0;        // 0 to 3
static_assert(plan >= 0 && plan <= 3);
constexpr int cols = 128;  // of c per block
constexpr int rows = 64;   // of c per block
constexpr int depth = 16;  // columns of a, rows of b, between two barriers
constexpr int group = 16;  // rows of tiles that are done together
constexpr int part = 8;    // a thread computes part x part elements of c
constexpr int threads = (rows / part) * (cols / part);

// Instead of 1, for any n: what a thread fetches of each pair, one float at a time.
constexpr int any_n = -1;
template <int rows, int cols, int depth, int threads>
class pair_fetcher<rows, cols, depth, threads, any_n> {
 public:
  __device__ pair_fetcher(const float* a, const float* b, int n, int row0, int col0, int k, int tid)
      : n_(n), a_col_(tid % depth), b_row_(tid / cols) {
    const int row = min(row0 + tid / depth, n - 1);
    last_row_ = n - 1 - row;
    to_a_ = a_col_ * (rows + 4) + tid / depth;
    to_b_ = b_row_ * cols + tid % cols;
    a_ = a + row * n_ + k + a_col_;
    b_ = b + (k + b_row_) * n_ + min(col0 + tid % cols, n - 1);
  }

  __device__ void fetch(tile_pair<rows, cols, depth>& to, int missing = 0) {
    for (int i = 0; i < a_pieces; ++i)
      fetched_[i] = a_col_ < missing ? 0 : a_[min(i * a_rows, last_row_) * n_];
    for (int i = 0; i < depth; i += b_rows)
      __pipeline_memcpy_async(&to.b[0][0] + to_b_ + i * cols, b_ + i * n_, 4,
                              b_row_ + i >= missing ? 0 : 4);
    a_ += depth;
    b_ += depth * n_;
  }

  __device__ void store(tile_pair<rows, cols, depth>& to) const {
    for (int i = 0; i < a_pieces; ++i) (&to.a[0][0])[to_a_ + i * a_rows] = fetched_[i];
  }

 private:
  static constexpr int a_rows = threads / depth, b_rows = threads / cols;  // at a time
  static constexpr int a_pieces = rows / a_rows;
  long long n_;
  int a_col_, b_row_;  // of the first float in its tile
  int to_a_, to_b_;    // where that goes
  int last_row_;       // of a: how far below the first
  const float *a_, *b_;
  float fetched_[a_pieces];
};

// n is a multiple of Multiple: of 1 (or any_n), of 4, or of slices * depth.
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
    const int group_y = min(group, tiles_y - first_y);  // the last group may be lower
    const int tile_y = first_y + in_group % group_y, tile_x = in_group / group_y;
    const int row0 = tile_y * rows, col0 = tile_x * cols;

    // All slices make as many steps as the longest: one with fewer begins with one of zeros.
    const int count = to - from, longest = (count + slices - 1) / slices;
    const int begin = from + (count * slice + slices - 1) / slices;
    const int first = from + (count * (slice + 1) + slices - 1) / slices - longest;
    const int zeros = first < begin ? depth : first == 0 ? missing : 0;
    pair_fetcher<rows, cols, depth, threads, Multiple> fetcher(a, b, n, row0, col0,
                                                               first * depth - missing, tid);
    float sum[part][part] = {};
    add_products<stages, slices>(sum, fetcher, tiles, longest, zeros, place, slice);
    add_slices<slices, threads>(sum, reinterpret_cast<float*>(shared), slice, tid);
    share.wait_for_beginning();

    const int row = row0 + place.y0, col = col0 + place.x0;
    float* const first_sum = c + static_cast<long long>(row) * n + col;
    for (int i = 0; i < part; ++i) {
      for (int j = 0; j < part; ++j) {
        const int below = place.below(i), right = place.right(j);
        if (slice > 0 || row + below >= n || col + right >= n) continue;
        float* const at = first_sum + static_cast<long long>(below) * n + right;
        *at = from > 0 ? __ldcg(at) + sum[i][j] : sum[i][j];
      }
    }
    share.pass_on();
    if (slices > 1) __syncthreads();  // the sums of the other slices have been read
  }
}

template <class Shares, int stages, int slices, int blocks_per_sm>
void launch(int blocks, const float* a, const float* b, float* c, int n) {
  // Shares of steps do not divide by the slices: then the first ones may be steps of zeros.
  constexpr int whole = slices > 1 && std::is_same_v<Shares, even_shares> ? 4 : slices * depth;
  constexpr int one = neighbours ? any_n : 1;
  const auto kernel = n % whole == 0 ? matmul_kernel<Shares, stages, slices, blocks_per_sm, whole>
                      : n % 4 == 0   ? matmul_kernel<Shares, stages, slices, blocks_per_sm, 4>
                                     : matmul_kernel<Shares, stages, slices, blocks_per_sm, one>;
  constexpr int tiles_bytes = slices * stages * sizeof(tile_pair<rows, cols, depth>);
  constexpr int sums_bytes = 64 * (slices - 1) * threads * sizeof(float);
  constexpr int bytes = std::max(tiles_bytes, sums_bytes);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<blocks, slices * threads, bytes>>>(a, b, c, n);
  check(cudaGetLastError());
}

void matmul(const float* a, const float* b, float* c, int n) {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int tiles = ceil_div(n, cols) * ceil_div(n, rows);
  const int steps = tiles * ceil_div(n, depth);
  if (plan == 2) {
    const int blocks = std::min({steps, 2 * multiprocessors, most_blocks});
    return launch<even_shares, 2, 2, 2>(blocks, a, b, c, n);
  }
  if (plan == 3) {
    const int blocks = std::min({steps, multiprocessors, most_blocks});
    return launch<even_shares, 2, 4, 1>(blocks, a, b, c, n);
  }
  if (plan == 0 && tiles <= multiprocessors) return launch<one_tile, 2, 4, 1>(tiles, a, b, c, n);
  if (plan == 0 && tiles <= 4 * multiprocessors)
    return launch<one_tile, 2, 1, 4>(tiles, a, b, c, n);
  launch<even_shares, 3, 1, 3>(std::min({steps, 3 * multiprocessors, most_blocks}), a, b, c, n);
}
