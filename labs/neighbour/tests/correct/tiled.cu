// neighbour, correct: a block reads the points tile by tile.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;

__global__ void split_kernel(const float* xyz, float* x, float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = xyz[3 * i];
  y[i] = xyz[3 * i + 1];
  z[i] = xyz[3 * i + 2];
}

__global__ void neighbour_kernel(const float* x, const float* y, const float* z, int* nearest,
                                 int n) {
  __shared__ float tile_x[block_size], tile_y[block_size], tile_z[block_size];
  const int t = threadIdx.x;
  const int i = blockIdx.x * block_size + t;
  const float x_i = i < n ? x[i] : 0, y_i = i < n ? y[i] : 0, z_i = i < n ? z[i] : 0;
  float best = INFINITY;
  int best_j = -1;
  for (int first = 0; first < n; first += block_size) {
    if (first + t < n) {
      tile_x[t] = x[first + t];
      tile_y[t] = y[first + t];
      tile_z[t] = z[first + t];
    }
    __syncthreads();
    const int count = min(block_size, n - first);
    for (int k = 0; k < count; ++k) {
      const float dx = tile_x[k] - x_i, dy = tile_y[k] - y_i, dz = tile_z[k] - z_i;
      const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
      if (first + k != i && d < best) {
        best = d;
        best_j = first + k;
      }
    }
    __syncthreads();
  }
  if (i < n) nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  float* x = static_cast<float*>(scratch);
  float* y = x + n;
  float* z = y + n;
  split_kernel<<<ceil_div(n, 256), 256>>>(xyz, x, y, z, n);
  check(cudaGetLastError());
  neighbour_kernel<<<ceil_div(n, block_size), block_size>>>(x, y, z, nearest, n);
  check(cudaGetLastError());
}
