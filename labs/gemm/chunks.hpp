// Given: chunks of 16 bytes, 8 elements, the unit in which tiles are copied.
#pragma once

#include "labs/gemm/gemm.hpp"

constexpr int chunk = 8;  // elements; the contract's sizes are multiples

// The 8 elements from (row, col) on of a rows x cols matrix, with zeros outside. col is a multiple
// of 8, so a chunk never straddles an edge.
__device__ inline uint4 load_chunk(const __nv_bfloat16* matrix, int row, int col, int rows,
                                   int cols) {
  if (row >= rows || col >= cols) return {0, 0, 0, 0};
  return *reinterpret_cast<const uint4*>(matrix + row * cols + col);
}
