// The contract of the blur lab: the one function that you write.
//
// tested  labs/blur/problem.cpp checks it; its mutants are in labs/blur/tests.
#pragma once

#include <cstddef>

struct uchar4;  // CUDA's type: x, y, z, w hold red, green, blue and alpha; alpha is ignored

// The bytes of one picture in scratch: a multiple of 256, so that the second picture is aligned.
constexpr std::size_t picture_bytes(int width, int height) {
  return (std::size_t(width) * std::size_t(height) + 255) / 256 * 256;
}
// The bytes of scratch memory: two pictures, the grey one and the blurred one.
constexpr std::size_t scratch_bytes(int width, int height) {
  return 2 * picture_bytes(width, height);
}

// Stores the edges of a picture in `out`, one byte per pixel. There are three stages:
//
//   grey   g = fmaf(blue, 0.114350f, fmaf(red, 0.298839f, green * 0.586811f)), truncated to an
//          integer.
//   blur   the sum of grey times weight over 7 x 7 pixels, shifted right by 8 bits. The weights are
//          w(i) * w(j), where w is 1 2 3 4 3 2 1, and add up to 256.
//   edges  gx and gy of the blurred picture by Sobel's weights: for gx, -1 -2 -1 in the left column
//          and 1 2 1 in the right one; for gy, the same in the upper and the lower row. The edge is
//          the square root of gx * gx + gy * gy, truncated to an integer, at most 255.
//
// Pixels outside the picture count as 0, both in the grey picture and in the blurred one.
//
// shape   Row-major without gaps: the pixel in column x of row y has index y * width + x.
// limits  width and height are 1 to 65535, width * height is below 2^30.
// memory  `rgba`, `out` and `scratch` (scratch_bytes(width, height) bytes) lie in device memory and
//         do not overlap; each is aligned to 256 bytes. `rgba` must not be changed. Before every
//         call, `out` and `scratch` are filled with garbage.
// waits   No. It launches on the default stream and returns.
void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height);
