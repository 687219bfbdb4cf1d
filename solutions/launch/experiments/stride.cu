// launch, experiment stride: lanes whose elements are not neighbours.
//
// idea    A warp adds 32 elements that are `stride` apart, the next warp the elements next to
//         those, and so on until a piece of 32 x stride elements is complete. A request touches
//         each of the piece's 4 x stride sectors, but at most as many sectors as there are lanes.
// watch   Other warps use the rest of the piece, so a cache may save the bytes a second trip to
//         memory. But the cost of a request is its number of sectors.
// needs   nothing. The stride is a template parameter, because dividing a warp's number by a
//         constant takes only a few instructions.
// tested  labs/launch/tests/experiments_test.cpp compares counted sectors with predicted ones.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int stride = 2;     // distance in elements from one lane to the next; 1 to 32
constexpr int threads = 256;  // per block
static_assert(stride >= 1 && stride <= 32, "stride is 1 to 32");

// z[i] = x[i] + y[i]
template <int stride>
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int warp = (blockIdx.x * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int i = warp / stride * (32 * stride) + lane * stride + warp % stride;
  if (i < n) z[i] = x[i] + y[i];
}

// Launches enough blocks to give every piece `stride` warps, even the one that n ends in.
template <int stride>
void add_with_stride(const float* x, const float* y, float* z, int n) {
  const int warps = ceil_div(n, 32 * stride) * stride;
  add_kernel<stride><<<ceil_div(32 * warps, threads), threads>>>(x, y, z, n);
  check(cudaGetLastError());
}

void add(const float* x, const float* y, float* z, int n) { add_with_stride<stride>(x, y, z, n); }
