// launch, experiment divergence: the same work, on one of several branches.
//
// idea    A warp issues one instruction for all lanes that are at it. Where lanes diverge, it
//         issues the branches one after the other: with equal work on each of w branches, 1/w of
//         the lanes work at a time. Here the branch does nothing to an element but takes time. The
//         lane, the warp or the element's value decides which branch is taken. The kernel is the
//         same whatever the constants: they choose branches, not code.
// watch   The arithmetic must outweigh 12 bytes of memory traffic per element, or the time says
//         nothing about lanes.
// needs   whole numbers up to 2^22, as the lab's sums are: all roundings are exact then.
// tested  labs/launch/tests/experiments_test.cpp: counted efficiency against the predicted one
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

enum chosen_by { lane, warp, data };

constexpr int ways = 4;       // that are taken: 1, 2, 4, 8, 16 or 32
constexpr int by = 0;         // what chooses an element's way: 0 its lane, 1 its warp, 2 its value
constexpr int rounds = 128;   // of two multiply-adds, on every way
constexpr int threads = 256;  // of a block
constexpr int all_ways = 32;
static_assert(ways >= 1 && ways <= all_ways && (ways & (ways - 1)) == 0,
              "ways is 1, 2, 4, 8, 16 or 32");
static_assert(by >= lane && by <= data, "by is 0 (lane), 1 (warp) or 2 (data)");

// Away by 2 (way + 1), and back: the value is `sum` again after each round. Another loop for each
// way, so that no compiler makes one of them all.
template <int way>
__device__ float walk(float sum) {
  constexpr float detour = 2 * (way + 1);
#pragma unroll 4
  for (int k = 0; k < rounds; ++k) {
    sum = fmaf(sum, 2, detour);
    sum = fmaf(sum, 0.5f, -detour / 2);
  }
  return sum;
}

template <int way = 0>
__device__ float walk_on(int chosen, float sum) {
  if constexpr (way < all_ways - 1) {
    if (chosen != way) return walk_on<way + 1>(chosen, sum);
  }
  return walk<way>(sum);
}

// z[i] = x[i] + y[i]
__global__ void add_kernel(const float* x, const float* y, float* z, int n, int ways, int by) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i >= n) return;
  const int choice = by == lane ? i % 32 : by == warp ? i / 32 : (int)x[i];
  const float sum = x[i] + y[i];
  z[i] = walk_on(choice & (ways - 1), sum);
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<ceil_div(n, threads), threads>>>(x, y, z, n, ways, by);
  check(cudaGetLastError());
}
