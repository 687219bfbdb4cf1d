// Blurs along a column whose values come row by row, as spelled out in 13_factored_columns, for
// the steps from 17_no_conversions to 23_narrow_blocks.
//
// idea    A row goes in, and the result is for the row three above it, because the filter reaches
//         three rows down. Before the filter is full, the result is garbage.
#pragma once

// The sum of a column's last seven values with the weights 1 2 3 4 3 2 1, in four additions:
// (1 + z) (1 + z^2) (1 + z) (1 + z^2), where z is "one row before".
template <class number>
class column_sum {
 public:
  __device__ number operator()(number value) {
    const number pair = value + value1;                // 1 1
    const number two_pairs = pair + pair2;             // 1 1 1 1
    const number four_pairs = two_pairs + two_pairs1;  // 1 2 2 2 1
    const number sum = four_pairs + four_pairs2;       // 1 2 3 4 3 2 1
    value1 = value;
    pair2 = pair1;
    pair1 = pair;
    two_pairs1 = two_pairs;
    four_pairs2 = four_pairs1;
    four_pairs1 = four_pairs;
    return sum;
  }

 private:
  number value1 = 0, pair1 = 0, pair2 = 0, two_pairs1 = 0, four_pairs1 = 0,
         four_pairs2 = 0;  // 1 or 2 rows ago
};
