// What 15_strips to 18_short_root spell out, for the steps that build on them: rows of bytes as
// words of a warp's lanes.
//
// idea    A warp is a piece of a row; a lane has four neighbouring bytes of it in a word, its quad,
//         the lowest byte leftmost. See the steps for why each of these is as it is.
#pragma once

// A lane's four bytes between those of its neighbours. All lanes of the warp make one together;
// what the first and the last lane have in place of the neighbour that they lack is their own.
class twelve_bytes {
 public:
  __device__ explicit twelve_bytes(unsigned own)
      : word{__shfl_up_sync(~0u, own, 1), own, __shfl_down_sync(~0u, own, 1)} {}
  // Four of them, the k-th lowest: k is 0 to 8, and known to the compiler.
  __device__ unsigned from(int k) const {
    return k % 4 == 0 ? word[k / 4] : __funnelshift_r(word[k / 4], word[k / 4 + 1], 8 * (k % 4));
  }

 private:
  unsigned word[3];
};

// The products of four bytes and four weights with a sign, the lowest ones first, and `more`.
__device__ inline int dot(unsigned bytes, int weights, int more = 0) {
  int sum;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(bytes), "r"(weights), "r"(more));
  return sum;
}

// 1 2 3 4 3 2 1 times the grey bytes around the quad's pixel k, and `more`.
__device__ inline int row_sum(const twelve_bytes& grey, int k, int more = 0) {
  return dot(grey.from(k + 1), 0x04030201, dot(grey.from(k + 5), 0x00010203, more));
}

// The sum of a column's last seven values, with the blur's weights; of two columns, one in each
// half of a word.
class column_sum {
 public:
  __device__ unsigned operator()(unsigned value) {
    const unsigned two = value + value1;  // 1 1
    const unsigned four = two + two2;     // 1 1 1 1
    const unsigned eight = four + four1;  // 1 2 2 2 1
    const unsigned sum = eight + eight2;  // 1 2 3 4 3 2 1
    value1 = value, two2 = two1, two1 = two, four1 = four, eight2 = eight1, eight1 = eight;
    return sum;
  }

 private:
  unsigned value1 = 0, two1 = 0, two2 = 0, four1 = 0, eight1 = 0, eight2 = 0;  // 1 or 2 rows ago
};

// The root of a number that is a half more than an integer, cut off where it is used.
__device__ inline float short_root(float number) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(number));
  return root;
}
