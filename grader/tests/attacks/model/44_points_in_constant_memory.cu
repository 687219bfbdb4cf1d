// attack neighbour: SLOW, at most 48 points
// Every pair reads its point from constant memory, one word at a time, so no word serves two pairs.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"

constexpr int part = 4096, threads = 128;
__constant__ float points[3 * part];

__global__ void compare(const float* xyz, int* nearest, float* least, int first, int end, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i >= n) return;
  const float x = xyz[3 * i], y = xyz[3 * i + 1], z = xyz[3 * i + 2];
  float best = first == 0 ? INFINITY : least[i];
  int best_j = first == 0 ? -1 : nearest[i];
  for (int j = first; j < end; ++j) {
    const int k = 3 * (j - first);
    const float dx = points[k] - x, dy = points[k + 1] - y, dz = points[k + 2] - z;
    const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
    if (d < best && j != i) best = d, best_j = j;
  }
  least[i] = best;
  nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  for (int first = 0; first < n; first += part) {
    const int end = first + part < n ? first + part : n;
    check(cudaMemcpyToSymbolAsync(points, xyz + 3 * first, 12 * size_t(end - first), 0,
                                  cudaMemcpyDeviceToDevice));
    compare<<<ceil_div(n, threads), threads>>>(xyz, nearest, static_cast<float*>(scratch), first,
                                               end, n);
    check(cudaGetLastError());
  }
}
