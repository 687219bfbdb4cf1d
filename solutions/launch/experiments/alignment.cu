// launch, experiment alignment: warps whose elements do not start at a sector.
//
// idea    Memory moves in sectors of 32 bytes, 8 floats, which start at multiples of 32. The 32
//         neighbours that a warp adds fill 4 sectors if the first one starts a sector; otherwise
//         they touch 5. Here all warps start `offset` elements later; the threads that would reach
//         beyond the end of the array add the elements left over at its beginning.
// watch   Only requests become more expensive. The sector that two warps share comes from memory
//         once, if a cache still holds it for the second warp.
// needs   nothing.
// tested  labs/launch/tests/experiments_test.cpp compares counted sectors with predicted ones.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int offset = 1;  // elements by which every warp is shifted from its usual place; 0 to 32
constexpr int threads = 256;  // per block
static_assert(offset >= 0 && offset <= 32, "offset is 0 to 32");

// z[i] = x[i] + y[i]; 0 <= offset < n
__global__ void add_kernel(const float* x, const float* y, float* z, int n, int offset) {
  const int thread = blockIdx.x * threads + threadIdx.x;
  if (thread >= n) return;
  const int i = thread + offset < n ? thread + offset : thread + offset - n;
  z[i] = x[i] + y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  add_kernel<<<ceil_div(n, threads), threads>>>(x, y, z, n, offset % n);
  check(cudaGetLastError());
}
