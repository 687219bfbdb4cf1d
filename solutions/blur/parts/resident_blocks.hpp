// How many blocks run at once, for the steps from 18_one_wave to 23_narrow_blocks.
#pragma once

#include "common/lab/check.hpp"

// The number of blocks of a kernel that the GPU holds at a time.
template <class Kernel>
int resident_blocks(Kernel* kernel, int threads) {
  int multiprocessors = 0, blocks = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  return multiprocessors * blocks;
}
