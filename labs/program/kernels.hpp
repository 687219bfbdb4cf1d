// The two kernels of the lab, which are given: this lab is about the program around them.
//
//   smooth<<<tiles_of(width, height), tile>>>(frame, smoothed, width, height);
//   add_up<<<sum_blocks, sum_threads>>>(smoothed, width * height, sum);
//
// memory  All arrays are in memory that the device can access.
#pragma once

#include <cuda_runtime.h>

#include "common/lab/ceil_div.hpp"

constexpr dim3 tile(32, 8);  // pixels of a block, and threads: 8 warps
constexpr int sum_threads = 256;
constexpr int sum_blocks = 128;

inline dim3 tiles_of(int width, int height) {
  return dim3(ceil_div(unsigned(width), tile.x), ceil_div(unsigned(height), tile.y));
}

// Writes the mean of the 3 x 3 pixels around each pixel. Beyond an edge, the nearest pixel counts.
__global__ void smooth(const unsigned char* frame, unsigned char* smoothed, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    int sum = 4;  // rounds to the nearest
    for (int near_y = y - 1; near_y <= y + 1; ++near_y) {
      const unsigned char* const row = frame + min(max(near_y, 0), height - 1) * width;
      for (int near_x = x - 1; near_x <= x + 1; ++near_x)
        sum += row[min(max(near_x, 0), width - 1)];
    }
    smoothed[y * width + x] = static_cast<unsigned char>(sum / 9);
  }
}

// Adds `count` pixels to *sum, which must be 0 before the first launch.
__global__ void add_up(const unsigned char* pixels, int count, unsigned* sum) {
  unsigned mine = 0;
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) mine += pixels[i];
  for (int distance = 16; distance > 0; distance /= 2)
    mine += __shfl_down_sync(0xffffffff, mine, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
