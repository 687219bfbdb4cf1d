// The contract of the blur lab: the one function that you write.
//
// tested  labs/blur/problem.cpp checks it; its mutants are in labs/blur/tests.
#pragma once

#include <cstddef>

struct uchar4;  // CUDA's: bytes x, y, z, w for red, green, blue and an alpha that is ignored

// Bytes of a grey picture in scratch: a multiple of 256, so that what follows it is aligned.
constexpr std::size_t picture_bytes(int width, int height) {
  return (std::size_t(width) * std::size_t(height) + 255) / 256 * 256;
}
// Of the scratch memory: two pictures, the grey one and the blurred one.
constexpr std::size_t scratch_bytes(int width, int height) {
  return 2 * picture_bytes(width, height);
}

// Stores the edges of a picture in `out`, a byte for each pixel, in three stages:
//
//   grey   g = fmaf(blue, 0.114350f, fmaf(red, 0.298839f, green * 0.586811f)), truncated to an
//          integer.
//   blur   7 x 7 weights w(i) * w(j), where w is 1 2 3 4 3 2 1: the sum of weight times grey,
//          shifted right by 8 bits (the weights add up to 256).
//   edges  gx and gy of the blurred picture by Sobel's weights, left column -1 -2 -1, right column
//          1 2 1, and the same for rows; the root of gx * gx + gy * gy, truncated to an integer,
//          at most 255.
//
// What lies outside counts as 0, in the grey picture as in the blurred one.
//
// shape   Row-major without gaps: the pixel in column x of row y is number y * width + x.
// limits  width and height are 1 to 65535, width * height is below 2^30.
// memory  `rgba`, `out` and `scratch` (scratch_bytes(width, height) bytes) lie in device memory,
//         apart from each other, aligned to 256 bytes. `rgba` is not to be changed; before every
//         call, `out` and `scratch` are filled with garbage.
// waits   No. It launches on the default stream and returns.
void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height);
