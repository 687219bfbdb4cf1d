// The scan of a warp's rows of 32 vectors.
#pragma once

#include "solutions/scan/parts/block_scan.hpp"
#include "solutions/scan/parts/vectors.hpp"

// Scans the rows of a warp, one after the other: v[k] is a lane's vector of row k. Returns the sum
// of all rows. All lanes must call it.
template <int Rows>
__device__ unsigned scan_rows(uint4 (&v)[Rows]) {
  unsigned sum = 0;  // of the rows so far
  for (int k = 0; k < Rows; ++k) {
    v[k].y += v[k].x;
    v[k].z += v[k].y;
    v[k].w += v[k].z;
    const unsigned through = warp_scan(v[k].w);
    v[k] = add_to_all(v[k], sum + through - v[k].w);
    sum += __shfl_sync(0xffffffff, through, 31);
  }
  return sum;
}
