// The gradient of a picture that comes row by row, one column at a time, for
// the steps from 12_strips to 23_narrow_blocks.
//
// idea    A row goes in, and the result is for the row above it, because the filter reaches one row
//         down. Before the filter is full, the result is garbage.
#pragma once

// Sobel's gx and gy of a column in the row before the last. Each row supplies the difference of the
// pixel's neighbours, right minus left, and 1 2 1 times all three.
template <class number>
class column_gradient {
 public:
  struct arrow {
    number x, y;
  };
  __device__ arrow operator()(number difference, number smooth) {
    const number pair = difference + difference1;
    const arrow found = {pair + pair1, smooth - smooth2};
    difference1 = difference;
    pair1 = pair;
    smooth2 = smooth1;
    smooth1 = smooth;
    return found;
  }

 private:
  number difference1 = 0, pair1 = 0, smooth1 = 0, smooth2 = 0;  // 1 or 2 rows ago
};
