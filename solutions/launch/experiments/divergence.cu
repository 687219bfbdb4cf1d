// launch, experiment divergence: the same work, on one of several branches.
//
// idea    A warp issues one instruction for all lanes that have reached it. Where lanes diverge, it
//         issues the branches one after the other: with equal work on each of w branches, 1/w of
//         the lanes work at a time. Here a branch takes time but leaves the element unchanged. The
//         lane, the warp or the element's value decides which branch is taken. The kernel is the
//         same for all constants: they choose branches, not code.
// watch   The arithmetic must outweigh 12 bytes of memory traffic per element, or the time
//         reveals nothing about lanes.
// needs   whole numbers up to 2^22, like the lab's sums, so that all roundings are exact.
// tested  labs/launch/tests/experiments_test.cpp compares counted efficiency with the prediction.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

enum chosen_by { lane, warp, data };

constexpr int ways = 4;       // branches that are taken: 1, 2, 4, 8, 16 or 32
constexpr int by = 0;         // chooses an element's branch: 0 its lane, 1 its warp, 2 its value
constexpr int rounds = 128;   // per branch, of two multiply-adds each
constexpr int threads = 256;  // per block
constexpr int all_ways = 32;
static_assert(ways >= 1 && ways <= all_ways && (ways & (ways - 1)) == 0,
              "ways is 1, 2, 4, 8, 16 or 32");
static_assert(by >= lane && by <= data, "by is 0 (lane), 1 (warp) or 2 (data)");

// A detour of 2 (way + 1) and back: after each round the value is `sum` again. Every branch has a
// different loop, so that no compiler merges them.
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
  const int choice = by == lane ? i % 32 : by == warp ? i / 32 : static_cast<int>(x[i]);
  const float sum = x[i] + y[i];
  z[i] = walk_on(choice & (ways - 1), sum);
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<ceil_div(n, threads), threads>>>(x, y, z, n, ways, by);
  check(cudaGetLastError());
}
