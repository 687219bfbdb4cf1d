// neighbour 03_shared, compute only: all pairs are compared, but no point is loaded.
//
// keeps   The tile in shared memory with its barriers, the loop over it, every pair. A point's
//         coordinates are computed from its index.
// lacks   Loads and stores of global memory. `zero` is 0, but the compiler does not know that, so
//         the kernels must compute results that they then do not store.
// holds   12 blocks of 128 threads, as the registers allow in the step, even if this needs fewer.
// A yardstick for `./lab limits neighbour`: its result is wrong. Tested by
// labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "common/lab/hold_blocks.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;      // 4 warps: one for each scheduler of a multiprocessor
constexpr int resident_blocks = 12;  // the step's, per multiprocessor

__global__ void split_kernel(float* x, int n, int zero) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i < n && (3 * i + 2) * zero == 1) x[i] = 0;
}

__global__ void neighbour_kernel(int* nearest, int n, int zero) {
  __shared__ float tile_x[block_size], tile_y[block_size], tile_z[block_size];
  const int t = threadIdx.x, i = blockIdx.x * block_size + t;
  const int mine = min(i, n - 1);
  const float x_i = mine, y_i = mine + 1, z_i = mine + 2;
  float best = INFINITY;
  int best_j = -1;
  for (int first = 0; first < n; first += block_size) {
    const int count = min(block_size, n - first);
    __syncthreads();  // no thread needs the previous tile any more
    if (t < count) {
      tile_x[t] = first + t;
      tile_y[t] = first - t;
      tile_z[t] = t;
    }
    __syncthreads();  // the tile is complete
    for (int k = 0; k < count; ++k) {
      const int j = first + k;
      const float dx = tile_x[k] - x_i, dy = tile_y[k] - y_i, dz = tile_z[k] - z_i;
      const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
      if (d < best && j != i) {
        best = d;
        best_j = j;
      }
    }
  }
  if (i < n && best_j * zero == 1) nearest[i] = best_j;
}

void neighbour(const float*, int* nearest, void* scratch, int n) {
  static const auto dynamic_bytes = hold_blocks(neighbour_kernel, block_size, resident_blocks);
  split_kernel<<<ceil_div(n, block_size), block_size>>>(static_cast<float*>(scratch), n, 0);
  check(cudaGetLastError());
  neighbour_kernel<<<ceil_div(n, block_size), block_size, dynamic_bytes>>>(nearest, n, 0);
  check(cudaGetLastError());
}
