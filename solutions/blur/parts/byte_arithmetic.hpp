// Dot products of bytes, as spelled out in 14_dot_products, for the steps that build on it.
#pragma once

#include "solutions/blur/parts/neighbour_lanes.hpp"

// Adds the products of four bytes and four signed weights, the lowest first, to `more`.
__device__ inline int dot(unsigned bytes, int weights, int more = 0) {
  int sum;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(bytes), "r"(weights), "r"(more));
  return sum;
}

// Adds 1 2 3 4 3 2 1 times the grey bytes around the quad's pixel k to `more`.
__device__ inline int row_sum(const twelve_bytes& grey, int k, int more = 0) {
  return dot(grey.from(k + 1), 0x04030201, dot(grey.from(k + 5), 0x00010203, more));
}
