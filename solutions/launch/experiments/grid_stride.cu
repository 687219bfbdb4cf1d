// launch, experiment grid_stride: few blocks that stay, or many that come and go.
//
// idea    04_grid_stride has as many blocks as fit on the GPU, and each makes many rounds. Nothing
//         keeps them in step: a block that is ahead requests bytes far from the others' bytes, and
//         ends earlier. Here the grid has `blocks` blocks per multiprocessor, of which 8 fit. With
//         `together`, the warps of a block wait for each other after every round.
// watch   Fewer blocks have fewer bytes in flight; more blocks have fewer rounds in which to drift
//         apart. All accesses are those of 03_ilp, whatever the constants.
// needs   All threads of a block make the same rounds; otherwise some would miss the barrier.
// tested  labs/launch/tests/experiments_test.cpp checks counted accesses, blocks and barriers.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int blocks = 8;     // of the grid, per multiprocessor; 1 to 64
constexpr int together = 0;   // 1: the warps of a block wait for each other after each round
constexpr int threads = 256;  // per block
constexpr int items = 4;      // elements that a thread loads before it adds the first
static_assert(blocks >= 1 && blocks <= 64, "blocks is 1 to 64");
static_assert(together == 0 || together == 1, "together is 0 or 1");

// z[i] = x[i] + y[i]
template <bool together>
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  constexpr int tile = threads * items;
  for (int first = blockIdx.x * tile; first < n; first += gridDim.x * tile) {
    float a[items], b[items];
    for (int k = 0; k < items; ++k) {
      const int i = first + k * threads + threadIdx.x;
      if (i < n) {
        a[k] = x[i];
        b[k] = y[i];
      }
    }
    for (int k = 0; k < items; ++k) {
      const int i = first + k * threads + threadIdx.x;
      if (i < n) z[i] = a[k] + b[k];
    }
    if (together) __syncthreads();
  }
}

// `blocks` is the number of blocks per multiprocessor. The grid has no more than there is work for.
template <bool together>
void add_with_blocks(const float* x, const float* y, float* z, int n, int blocks) {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int grid = std::min(ceil_div(n, threads * items), multiprocessors * blocks);
  add_kernel<together><<<grid, threads>>>(x, y, z, n);
  check(cudaGetLastError());
}

void add(const float* x, const float* y, float* z, int n) {
  add_with_blocks<together == 1>(x, y, z, n, blocks);
}
