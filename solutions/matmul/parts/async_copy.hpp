// Copies four floats at a time from global to shared memory, bypassing the registers, for
// 12_async_copies and 13_snake_order.
#pragma once

#include <cuda_pipeline.h>

// Begins to copy a piece of m, as in vector_access.hpp, to `to` in shared memory, at a multiple
// of 16 bytes. Elements outside the matrix count as 0. The copy belongs to the calling thread's
// next __pipeline_commit().
__device__ inline void copy4(float* to, const float* m, int row, int col, int n) {
  const float* first = m + row * n + col;
  if (n % 4 == 0) {
    const bool inside = row < n && col < n;
    __pipeline_memcpy_async(to, inside ? first : m, 16, inside ? 0 : 16);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    const bool inside = row < n && col + i < n;
    __pipeline_memcpy_async(to + i, inside ? first + i : m, 4, inside ? 0 : 4);
  }
}
