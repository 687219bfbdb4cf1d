// Gives each lane of a warp, which owns four columns, the four columns on either side, for
// the steps from 12_strips to 23_narrow_blocks.
#pragma once

// A lane's four bytes between those of its neighbours. All lanes of a warp must construct theirs
// together. The first and the last lane have their own bytes in place of the missing neighbour's.
class twelve_bytes {
 public:
  __device__ explicit twelve_bytes(unsigned own)
      : word{__shfl_up_sync(~0u, own, 1), own, __shfl_down_sync(~0u, own, 1)} {}
  // The k-th byte; 4 to 7 are the lane's own. k is a compile-time constant, here and below.
  __device__ int operator[](int k) const { return word[k / 4] >> 8 * (k % 4) & 255; }
  // Four bytes from the k-th on, which is the lowest; k is 0 to 8.
  __device__ unsigned from(int k) const {
    return k % 4 == 0 ? word[k / 4] : __funnelshift_r(word[k / 4], word[k / 4 + 1], 8 * (k % 4));
  }

 private:
  unsigned word[3];
};
