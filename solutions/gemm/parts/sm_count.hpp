// The number of multiprocessors, for grids of persistent blocks.
#pragma once

#include "common/lab/check.hpp"

inline int sm_count() {
  static const int count = [] {
    int device = 0, value = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
    return value;
  }();
  return count;
}
