// Stores the sums of a consumer through shared memory, by TMA.
#pragma once

#include "labs/gemm/gemm.hpp"
#include "labs/gemm/tensor_copies.hpp"
#include "labs/gemm/wgmma.hpp"

// Two boxes of 64 x 64 elements: one is written while TMA reads the other.
struct alignas(1024) output_boxes {
  __nv_bfloat16 boxes[2][64][64];
};

// Stores the 64 x Cols sums of a warpgroup to c from (row, col) on. `next_box`, initially 0, is the
// box to write next. The warpgroup's threads meet at the named barrier with the given number. TMA
// may still read the boxes when this function returns.
template <int Cols>
__device__ void store_boxes(const CUtensorMap& c, int row, int col, const float (&sums)[Cols / 2],
                            output_boxes& out, int& next_box, int barrier_number) {
  const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
#pragma unroll
  for (int panel = 0; panel < Cols / 64; ++panel) {
    auto& box = out.boxes[next_box];
    next_box ^= 1;
    if (thread == 0) wait_for_reads<1>();  // of the box before the last one, which is this one
    meet_warpgroup(barrier_number);
    const int y = warp * 16 + lane % 16;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int chunk = 2 * i + lane / 16;
      store_matrices(&box[y][(chunk ^ y % 8) * 8], &sums[panel * 32 + i * 8]);
    }
    fence_proxy();
    meet_warpgroup(barrier_number);
    if (thread == 0) store_box(c, row, col + panel * 64, box);
  }
}
