// ceil_div(): the number of blocks that cover a number of elements.
#pragma once

namespace stepwise {

// a / b rounded up, for a >= 1 and b >= 1. ceil_div(5, 4) and ceil_div(8, 4) are 2. Never
// overflows, unlike (a + b - 1) / b, whose sum overflows if a is close to the largest int.
template <class Integer>
constexpr Integer ceil_div(Integer a, Integer b) {
  return (a - 1) / b + 1;
}

}  // namespace stepwise

using stepwise::ceil_div;  // host code of a lab writes ceil_div(n, block_size)
