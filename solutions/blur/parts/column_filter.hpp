// Blurs along a column whose values come row by row, as spelled out in 16_factored_columns, for
// the steps that build on it.
//
// idea    A row goes in, and the result is for the row three above, because the filter reaches
//         three rows down. Before the filter is full, the result is garbage.
#pragma once

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
    value1 = value;
    two2 = two1;
    two1 = two;
    four1 = four;
    eight2 = eight1;
    eight1 = eight;
    return sum;
  }

 private:
  number value1 = 0, two1 = 0, two2 = 0, four1 = 0, eight1 = 0, eight2 = 0;  // 1 or 2 rows ago
};
