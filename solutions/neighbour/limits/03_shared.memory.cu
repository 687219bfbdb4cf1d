// neighbour 03_shared, memory only: every tile is staged, and no point is compared.
//
// keeps   Every access to global memory: the points are split, each block stages all of them, with
//         both barriers, and each thread stores an index. The tile is read once at the end, so that
//         the compiler keeps the stores to it.
// lacks   The loop over the tile: its reads of shared memory, and the pairs.
// holds   12 blocks of 128 threads, as in the step, whose 36 registers per thread are the limit
//         (nvcc 13.0, sm_90). This one needs fewer, and 16 would fit.
// A yardstick for `./lab limits neighbour`: its result is wrong. Tested by
// labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "common/lab/hold_blocks.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;      // 4 warps: one for each scheduler of a multiprocessor
constexpr int resident_blocks = 12;  // the step's, per multiprocessor

__global__ void split_kernel(const float* xyz, float* x, float* y, float* z, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i < n) {
    x[i] = xyz[3 * i];
    y[i] = xyz[3 * i + 1];
    z[i] = xyz[3 * i + 2];
  }
}

__global__ void neighbour_kernel(const float* x, const float* y, const float* z, int* nearest,
                                 int n) {
  __shared__ float tile_x[block_size], tile_y[block_size], tile_z[block_size];
  const int t = threadIdx.x, i = blockIdx.x * block_size + t;
  const int mine = min(i, n - 1);
  const float x_i = x[mine], y_i = y[mine], z_i = z[mine];
  for (int first = 0; first < n; first += block_size) {
    const int count = min(block_size, n - first);
    __syncthreads();  // no thread needs the previous tile any more
    if (t < count) {
      tile_x[t] = x[first + t];
      tile_y[t] = y[first + t];
      tile_z[t] = z[first + t];
    }
    __syncthreads();  // the tile is complete
  }
  const int used = __float_as_int(tile_x[t]) ^ __float_as_int(tile_y[t]) ^
                   __float_as_int(tile_z[t]) ^ __float_as_int(x_i) ^ __float_as_int(y_i) ^
                   __float_as_int(z_i);
  if (i < n) nearest[i] = used;
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  static const auto dynamic_bytes = hold_blocks(neighbour_kernel, block_size, resident_blocks);
  float *x = static_cast<float*>(scratch), *y = x + n, *z = y + n;
  split_kernel<<<ceil_div(n, block_size), block_size>>>(xyz, x, y, z, n);
  check(cudaGetLastError());
  neighbour_kernel<<<ceil_div(n, block_size), block_size, dynamic_bytes>>>(x, y, z, nearest, n);
  check(cudaGetLastError());
}
