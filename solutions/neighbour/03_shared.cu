// neighbour 03_shared: a block stages points in shared memory.
//
// idea    All threads of a block need the same points, so the block reads each of them once: 128 at
//         a time, in whole sectors, thanks to the three arrays. The loop then reads shared memory,
//         where one word for all lanes is a broadcast: one wavefront, and no cache to miss. The
//         compiler unrolls the loop, and reads four neighbours of an array in one load.
// watch   Global memory serves 128 times fewer requests, and a pair costs 3/4 of a load from shared
//         memory. Each load still serves only one point of the thread. The gain over 01_aos shrinks
//         as n grows: more warps then hide the loads of 01_aos.
// needs   Threads beyond the last point help to stage, so they must not return early.
//         The last tile may be short.
// source  "CUDA Succinctly", chapters 7 and 8: shared memory blocking.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;  // 4 warps: one for each scheduler of a multiprocessor

// x[i], y[i], z[i] = point i
__global__ void split_kernel(const float* xyz, float* x, float* y, float* z, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i < n) {
    x[i] = xyz[3 * i];
    y[i] = xyz[3 * i + 1];
    z[i] = xyz[3 * i + 2];
  }
}

// nearest[i] = the nearest other point of point i
__global__ void neighbour_kernel(const float* x, const float* y, const float* z, int* nearest,
                                 int n) {
  __shared__ float tile_x[block_size], tile_y[block_size], tile_z[block_size];
  const int t = threadIdx.x, i = blockIdx.x * block_size + t;
  const int mine = min(i, n - 1);
  const float x_i = x[mine], y_i = y[mine], z_i = z[mine];
  float best = INFINITY;
  int best_j = -1;
  for (int first = 0; first < n; first += block_size) {
    const int count = min(block_size, n - first);
    //> todo: stage points first, ..., first + count - 1 in the tile, between two barriers.
    __syncthreads();  // no thread needs the previous tile any more
    if (t < count) {
      tile_x[t] = x[first + t];
      tile_y[t] = y[first + t];
      tile_z[t] = z[first + t];
    }
    __syncthreads();  // the tile is complete
    //<
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
  if (i < n) nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  float *x = static_cast<float*>(scratch), *y = x + n, *z = y + n;
  split_kernel<<<ceil_div(n, block_size), block_size>>>(xyz, x, y, z, n);
  check(cudaGetLastError());
  neighbour_kernel<<<ceil_div(n, block_size), block_size>>>(x, y, z, nearest, n);
  check(cudaGetLastError());
}
