// What a warp that walks down a picture, four columns a lane, keeps of the rows above and sees of
// the columns beside: for the steps from 15_strips on.
//
// idea    A row is added in, and what comes out is as far behind as the filter reaches down: three
//         rows for the blur, one for the edges. Before the filter is full, it is garbage.
#pragma once

// A lane's four bytes between those of its neighbours. All lanes of the warp make one together;
// what the first and the last lane have in place of the neighbour that they lack is their own.
class twelve_bytes {
 public:
  __device__ explicit twelve_bytes(unsigned own)
      : word{__shfl_up_sync(~0u, own, 1), own, __shfl_down_sync(~0u, own, 1)} {}
  // The k-th of them, 4 to 7 for the lane's own. k is known to the compiler, here and below.
  __device__ int operator[](int k) const { return word[k / 4] >> 8 * (k % 4) & 255; }
  // Four of them from the k-th on, that in the lowest byte; k is 0 to 8.
  __device__ unsigned from(int k) const {
    return k % 4 == 0 ? word[k / 4] : __funnelshift_r(word[k / 4], word[k / 4 + 1], 8 * (k % 4));
  }

 private:
  unsigned word[3];
};

// The sum of a column's last seven values with the weights 1 2 3 4 3 2 1, in four additions:
// (1 + z) (1 + z^2) (1 + z) (1 + z^2), where z is "one row before".
template <class number>
class column_sum {
 public:
  __device__ number operator()(number value) {
    const number two = value + value1;  // 1 1
    const number four = two + two2;     // 1 1 1 1
    const number eight = four + four1;  // 1 2 2 2 1
    const number sum = eight + eight2;  // 1 2 3 4 3 2 1
    value1 = value, two2 = two1, two1 = two, four1 = four, eight2 = eight1, eight1 = eight;
    return sum;
  }

 private:
  number value1 = 0, two1 = 0, two2 = 0, four1 = 0, eight1 = 0, eight2 = 0;  // 1 or 2 rows ago
};

// Sobel's gx and gy of a column, of the row before the last. Of each row comes the difference of
// the pixel's neighbours, right less left, and 1 2 1 times all three.
template <class number>
class column_gradient {
 public:
  struct arrow {
    number x, y;
  };
  __device__ arrow operator()(number difference, number smooth) {
    const number two = difference + difference1;
    const arrow found = {two + two1, smooth - smooth2};
    difference1 = difference, two1 = two, smooth2 = smooth1, smooth1 = smooth;
    return found;
  }

 private:
  number difference1 = 0, two1 = 0, smooth1 = 0, smooth2 = 0;  // 1 or 2 rows ago
};
