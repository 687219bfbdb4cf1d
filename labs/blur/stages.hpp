// The grey and edge stages of 01_naive, for the steps that change only the blur.
//
// idea    One thread per pixel. Neighbouring threads take neighbouring pixels of a row. Pixels
//         outside the picture count as 0. Pictures lie in device memory, row-major without gaps:
//         the pixel in column x of row y has index y * width + x.
#pragma once

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"

// The blur's weights along one axis. A pixel's weight is that of its row times that of its column.
static __constant__ const int weight[7] = {1, 2, 3, 4, 3, 2, 1};

// A pixel of a picture of width x height bytes in device or shared memory; 0 outside the picture.
__device__ inline int pixel(const unsigned char* picture, int x, int y, int width, int height) {
  const bool inside = x >= 0 && x < width && y >= 0 && y < height;
  return inside ? picture[y * width + x] : 0;
}

// The grey value of a colour, as labs/blur/blur.hpp defines it.
__device__ inline unsigned char grey_of(uchar4 p) {
  return static_cast<unsigned char>(fmaf(p.z, 0.114350f, fmaf(p.x, 0.298839f, p.y * 0.586811f)));
}

// The grey values of four colours that a vector load brings at once: one byte per colour, the first
// colour in the lowest byte.
__device__ inline unsigned grey_quad(uint4 colours) {
  const auto* const p = reinterpret_cast<const uchar4*>(&colours);
  return grey_of(p[0]) | grey_of(p[1]) << 8 | grey_of(p[2]) << 16 | grey_of(p[3]) << 24;
}

// The length of a gradient, truncated, at most 255.
__device__ inline unsigned char length_of(int gx, int gy) {
  return static_cast<unsigned char>(fminf(sqrtf(static_cast<float>(gx * gx + gy * gy)), 255));
}

// grey = the grey picture of rgba. One thread per pixel, in two dimensions.
static __global__ void grey_kernel(const uchar4* rgba, unsigned char* grey, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) grey[y * width + x] = grey_of(rgba[y * width + x]);
}

// out = the edges of the blurred picture. One thread per pixel, in two dimensions.
static __global__ void edge_kernel(const unsigned char* blurred, unsigned char* out, int width,
                                   int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const auto pixel_at = [&](int dx, int dy) {
    return pixel(blurred, x + dx, y + dy, width, height);
  };
  const int gx = pixel_at(1, -1) + 2 * pixel_at(1, 0) + pixel_at(1, 1) - pixel_at(-1, -1) -
                 2 * pixel_at(-1, 0) - pixel_at(-1, 1);
  const int gy = pixel_at(-1, 1) + 2 * pixel_at(0, 1) + pixel_at(1, 1) - pixel_at(-1, -1) -
                 2 * pixel_at(0, -1) - pixel_at(1, -1);
  out[y * width + x] = length_of(gx, gy);
}

// The grid of blocks of `threads` that covers a picture.
inline dim3 blocks_for(int width, int height, dim3 threads) {
  return {ceil_div<unsigned>(width, threads.x), ceil_div<unsigned>(height, threads.y)};
}

// grey = the grey picture of rgba, both in device memory. Launches on the default stream and
// returns. Throws what check() throws; the message names the line of the call.
inline void make_grey(const uchar4* rgba, unsigned char* grey, int width, int height,
                      const std::source_location& where = std::source_location::current()) {
  const dim3 threads(32, 8);
  grey_kernel<<<blocks_for(width, height, threads), threads>>>(rgba, grey, width, height);
  check(cudaGetLastError(), where);
}

// out = the edges of blurred, both in device memory. Launches on the default stream and returns.
// Throws what check() throws; the message names the line of the call.
inline void find_edges(const unsigned char* blurred, unsigned char* out, int width, int height,
                       const std::source_location& where = std::source_location::current()) {
  const dim3 threads(32, 8);
  edge_kernel<<<blocks_for(width, height, threads), threads>>>(blurred, out, width, height);
  check(cudaGetLastError(), where);
}
