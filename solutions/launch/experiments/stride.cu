// launch, experiment stride: lanes whose elements are not neighbours.
//
// idea    A warp adds 32 elements that are `stride` apart, the next warp those next to them, and so
//         on, until a piece of 32 x stride elements is complete. A request touches each of the 4 x
//         stride sectors of the piece, until there are more sectors than lanes.
// watch   All of the piece is used in the end, by other warps: a cache may bring the bytes from
//         memory only once, but a request costs as much as it has sectors.
// needs   nothing. The stride is a template parameter: divided by a constant, a warp's number takes
//         a few instructions.
// tested  labs/launch/tests/experiments_test.cpp: counted sectors against the predicted ones
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int stride = 2;     // elements from a lane's to the next lane's; 1 to 32
constexpr int threads = 256;  // of a block
static_assert(stride >= 1 && stride <= 32, "stride is 1 to 32");

// z[i] = x[i] + y[i]
template <int stride>
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int warp = (blockIdx.x * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int i = warp / stride * (32 * stride) + lane * stride + warp % stride;
  if (i < n) z[i] = x[i] + y[i];
}

// Launches so many blocks that every piece, also one that n ends in, has `stride` warps.
template <int stride>
void add_with_stride(const float* x, const float* y, float* z, int n) {
  const int warps = ceil_div(n, 32 * stride) * stride;
  add_kernel<stride><<<ceil_div(32 * warps, threads), threads>>>(x, y, z, n);
  check(cudaGetLastError());
}

void add(const float* x, const float* y, float* z, int n) { add_with_stride<stride>(x, y, z, n); }
