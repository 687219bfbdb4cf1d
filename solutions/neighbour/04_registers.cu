// neighbour 04_registers: a thread has four points, so each word that it reads serves four pairs.
//
// idea    A thread compares each point that it reads with one point of its own. With four points of
//         its own in registers, each word that it reads serves four pairs. That takes a quarter of
//         the loads, and the four comparisons do not wait for each other.
// gain    None: on an H200 it is slower than 03_shared, most of all for small n. With a quarter of
//         the threads, it takes four times the n to fill a GPU.
// watch   Loads are not the limit: a pair still has six operations, two comparisons and two words
//         that may change. 05_distances builds on this, and needs fewer operations.
// needs   A thread's points lie block_size apart, so that neighbouring lanes read neighbours.
// source  V. Volkov, "Better Performance at Lower Occupancy" (2010): several results per thread.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;  // 4 warps: one for each scheduler of a multiprocessor
constexpr int queries = 4;       // a thread's own points

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
  const int t = threadIdx.x, i = blockIdx.x * block_size * queries + t;  // its own first point
  float x_i[queries], y_i[queries], z_i[queries], best[queries];
  int best_j[queries];
  for (int q = 0; q < queries; ++q) {
    const int mine = min(i + q * block_size, n - 1);
    x_i[q] = x[mine];
    y_i[q] = y[mine];
    z_i[q] = z[mine];
    best[q] = INFINITY;
    best_j[q] = -1;
  }
  for (int first = 0; first < n; first += block_size) {
    const int count = min(block_size, n - first);
    __syncthreads();  // no thread needs the previous tile any more
    if (t < count) {
      tile_x[t] = x[first + t];
      tile_y[t] = y[first + t];
      tile_z[t] = z[first + t];
    }
    __syncthreads();  // the tile is complete
#pragma unroll 4      // four neighbours of an array in one load, as in 03_shared
    for (int k = 0; k < count; ++k) {
      const int j = first + k;
      const float x_j = tile_x[k], y_j = tile_y[k], z_j = tile_z[k];
      //> todo: compare point j with each of the thread's own points.
      for (int q = 0; q < queries; ++q) {
        const float dx = x_j - x_i[q], dy = y_j - y_i[q], dz = z_j - z_i[q];
        const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
        if (d < best[q] && j != i + q * block_size) {
          best[q] = d;
          best_j[q] = j;
        }
      }
      //<
    }
  }
  for (int q = 0; q < queries; ++q) {
    if (i + q * block_size < n) nearest[i + q * block_size] = best_j[q];
  }
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  float *x = static_cast<float*>(scratch), *y = x + n, *z = y + n;
  split_kernel<<<ceil_div(n, block_size), block_size>>>(xyz, x, y, z, n);
  check(cudaGetLastError());
  neighbour_kernel<<<ceil_div(n, block_size * queries), block_size>>>(x, y, z, nearest, n);
  check(cudaGetLastError());
}
