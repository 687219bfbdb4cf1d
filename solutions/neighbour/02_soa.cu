// neighbour 02_soa: a first kernel rewrites the points as three arrays.
//
// idea    In an array of structures, neighbouring lanes that read x of neighbouring points are 12
//         bytes apart: a request takes 12 sectors and uses a third of their bytes. In a structure
//         of arrays, the request takes 4 sectors and uses all of their bytes.
// watch   Only n of n * n reads are of this kind: those of each thread's own point, and of the new
//         first kernel. The loop reads one word for the whole warp, one sector in either layout.
// gain    None before 03_shared: on an H200 it is slower than 01_aos. It has the same loads and L1
//         misses, and a few more instructions, because three addresses advance. That is too little
//         to explain the difference, and the counters show no other reason.
// needs   12 bytes of scratch per point. The time includes the rewriting.
// source  "CUDA Succinctly", chapter 8: "AoS vs. SoA".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;  // 4 warps: one for each scheduler of a multiprocessor

// x[i], y[i], z[i] = point i
__global__ void split_kernel(const float* xyz, float* x, float* y, float* z, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  //> todo: if point i exists, store its coordinates in the three arrays.
  if (i < n) {
    x[i] = xyz[3 * i];
    y[i] = xyz[3 * i + 1];
    z[i] = xyz[3 * i + 2];
  }
  //<
}

// nearest[i] = the nearest other point of point i
__global__ void neighbour_kernel(const float* x, const float* y, const float* z, int* nearest,
                                 int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float x_i = x[i], y_i = y[i], z_i = z[i];
  float best = INFINITY;
  int best_j = -1;
  for (int j = 0; j < n; ++j) {
    const float dx = x[j] - x_i, dy = y[j] - y_i, dz = z[j] - z_i;
    const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
    if (d < best && j != i) {
      best = d;
      best_j = j;
    }
  }
  nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  float *x = static_cast<float*>(scratch), *y = x + n, *z = y + n;
  split_kernel<<<ceil_div(n, block_size), block_size>>>(xyz, x, y, z, n);
  check(cudaGetLastError());
  neighbour_kernel<<<ceil_div(n, block_size), block_size>>>(x, y, z, nearest, n);
  check(cudaGetLastError());
}
