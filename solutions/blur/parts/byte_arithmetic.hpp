// Bytes in words, and floats made of bits, as introduced in 17_dot_products to 20_no_conversions,
// for the steps from 21_one_wave on.
#pragma once

#include "common/lab/check.hpp"
#include "solutions/blur/parts/column_filter.hpp"
#include "solutions/blur/parts/column_gradient.hpp"
#include "solutions/blur/parts/neighbour_lanes.hpp"
#include "solutions/blur/parts/vector_access.hpp"

constexpr float three_22 = 3 << 22;
constexpr int three_22_bits = 0x4b400000;  // the bits of three_22

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

// A word whose lowest byte is the integer part of value / unit, 0 <= value < 256 * unit.
__device__ inline unsigned whole_part(float value, float unit) {
  return __float_as_uint(__fadd_rz(value, unit * (1 << 23)));
}

// A word whose lowest byte is the square root of gx * gx + gy * gy, truncated, at most 255.
__device__ inline unsigned short_length_of(float gx, float gy) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaf(gx, gx, fmaf(gy, gy, 0.5f))));
  return whole_part(fminf(root, 255), 1);
}

// A word whose lowest byte is the grey value of a colour, computed in units of 2^-22.
__device__ inline unsigned grey_word(unsigned p) {
  const float red = __uint_as_float(p & 0xff), green = __uint_as_float(p & 0xff00);
  const float blue = __uint_as_float(p & 0xff0000);
  const float red_and_green = fmaf(red, 0.298839f * 0x1p127f, green * (0.586811f * 0x1p119f));
  return whole_part(fmaf(blue, 0.114350f * 0x1p111f, red_and_green), 0x1p-22f);
}

// The grey values of a quad of colours, one byte each, the first in the lowest byte.
__device__ inline unsigned grey_bytes(uint4 colours) {
  return lowest_bytes(grey_word(colours.x), grey_word(colours.y), grey_word(colours.z),
                      grey_word(colours.w));
}

// The number of blocks of a kernel that the GPU holds at a time.
template <class Kernel>
int resident_blocks(Kernel* kernel, int threads) {
  int multiprocessors = 0, blocks = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  return multiprocessors * blocks;
}
