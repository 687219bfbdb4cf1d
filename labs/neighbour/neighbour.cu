// Generated from solutions/neighbour/01_aos.cu by lab start.
// neighbour 01_aos: one thread per point compares it with all others, in global memory.
//
// idea    The points are independent queries, so each gets a thread. All lanes of a warp read the
//         same point j at the same time: one word for all of them, three times, for x, y and z.
// needs   nothing. j rises, and only a smaller distance replaces the best, so the lowest index of
//         equal distances stays. If there is no other point, the result stays -1.
// source  "CUDA Succinctly", chapters 5 and 8: FindClosestGPU, points as an array of structures.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int block_size = 128;  // 4 warps: one for each scheduler of a multiprocessor

// nearest[i] = the nearest other point of point i
__global__ void neighbour_kernel(const float* xyz, int* nearest, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  const float x_i = xyz[3 * i], y_i = xyz[3 * i + 1], z_i = xyz[3 * i + 2];
  float best = INFINITY;
  int best_j = -1;
  for (int j = 0; j < n; ++j) {
    // TODO: if point j is another point and nearer than the best so far, remember it.
  }
  nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, [[maybe_unused]] void* scratch, int n) {
  neighbour_kernel<<<ceil_div(n, block_size), block_size>>>(xyz, nearest, n);
  check(cudaGetLastError());
}
