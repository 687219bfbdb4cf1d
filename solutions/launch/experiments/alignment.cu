// launch, experiment alignment: warps whose elements begin between two sectors.
//
// idea    Memory moves in sectors of 32 bytes, 8 floats, that begin at multiples of 32. The 32
//         neighbours that a warp adds fill 4 of them if the first one begins a sector, and lie in 5
//         if not. Here all warps begin `offset` elements further on; what is left at the array's
//         beginning is added by those that would reach beyond its end.
// watch   Only requests get dearer: the sector that two warps share comes from memory once, if a
//         cache still has it for the second.
// needs   nothing.
// tested  labs/launch/tests/experiments_test.cpp: counted sectors against the predicted ones
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int offset = 1;  // elements that a warp's first one lies behind its usual place; 0 to 32
constexpr int threads = 256;  // of a block
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
