// neighbour 05_distances: the loop keeps only a distance; its index is looked up at the end.
//
// idea    Fewer instructions per pair: keeping the smaller distance takes one fminf. Before, a
//         comparison, j != i and two words that may change took four instructions. A thread
//         remembers the tile in which it first found its smallest distance. At the end, it searches
//         that tile for the first point at that distance.
// watch   The second search reads global memory, each lane another word: at most 128 n pairs, few
//         against n * n. Two points per thread load more often than four, but fill a GPU at half n.
// needs   Equal operations in both searches, for equal bits; tiles in ascending order. Tiles of the
//         block's own points, where j may be i, have their own loop. A short tile ends in infinity.
// source  CUDA C++ Programming Guide, "Arithmetic Instructions": how many comparisons and minima,
//         and how many additions, a multiprocessor can do per clock.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;  // 4 warps: one for each scheduler of a multiprocessor
constexpr int queries = 2;       // a thread's own points

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
  int best_first[queries];  // where the tile with the best begins
  for (int q = 0; q < queries; ++q) {
    const int mine = min(i + q * block_size, n - 1);
    x_i[q] = x[mine];
    y_i[q] = y[mine];
    z_i[q] = z[mine];
    best[q] = INFINITY;
    best_first[q] = -1;
  }
  const auto distance = [&](int q, float x_j, float y_j, float z_j) {  // the contract's distance
    const float dx = x_j - x_i[q], dy = y_j - y_i[q], dz = z_j - z_i[q];
    return fmaf(dz, dz, fmaf(dy, dy, dx * dx));
  };
  for (int first = 0; first < n; first += block_size) {
    const int count = min(block_size, n - first);
    __syncthreads();  // no thread needs the previous tile any more
    if (t < count) {
      tile_x[t] = x[first + t];
      tile_y[t] = y[first + t];
      tile_z[t] = z[first + t];
    } else {
      tile_x[t] = tile_y[t] = tile_z[t] = INFINITY;
    }
    __syncthreads();  // the tile is complete
    //> todo: find the smallest distance in the tile, by fminf; if it is a new best, store the tile.
    float here[queries];
    for (int q = 0; q < queries; ++q) here[q] = INFINITY;
    if (first < i - t || first >= i - t + block_size * queries) {  // no own points
#pragma unroll 16
      for (int k = 0; k < block_size; ++k)
        for (int q = 0; q < queries; ++q)
          here[q] = fminf(here[q], distance(q, tile_x[k], tile_y[k], tile_z[k]));
    } else {
      for (int k = 0; k < block_size; ++k) {
        const float x_j = tile_x[k], y_j = tile_y[k], z_j = tile_z[k];
        for (int q = 0; q < queries; ++q)
          if (first + k != i + q * block_size) here[q] = fminf(here[q], distance(q, x_j, y_j, z_j));
      }
    }
    for (int q = 0; q < queries; ++q) {
      if (here[q] < best[q]) {
        best[q] = here[q];
        best_first[q] = first;
      }
    }
    //<
  }
  for (int q = 0; q < queries; ++q) {
    const int mine = i + q * block_size;
    int j = best_first[q];
    while (0 <= j && j < n && (j == mine || distance(q, x[j], y[j], z[j]) != best[q])) ++j;
    if (mine < n) nearest[mine] = j;
  }
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  float *x = static_cast<float*>(scratch), *y = x + n, *z = y + n;
  split_kernel<<<ceil_div(n, block_size), block_size>>>(xyz, x, y, z, n);
  check(cudaGetLastError());
  neighbour_kernel<<<ceil_div(n, block_size * queries), block_size>>>(x, y, z, nearest, n);
  check(cudaGetLastError());
}
