// Uses the missing lines to determine which blocks are missing.
#pragma once

#include <cstdint>

#include "common/lab/ceil_div.hpp"

namespace stepwise {

// True if the lines from `first` to `all` would fill at least one whole block. The block's side is
// taken to be the largest power of two that divides `first`, and to be at least 8.
constexpr bool lacks_whole_blocks(std::int64_t first, std::int64_t all) {
  const std::int64_t largest_side = first & -first;
  return largest_side >= 8 && all - first >= largest_side;
}

// The side of a block if only the lines before `first` exist because each block begins one line
// after the one before: the last of the blocks that cover `all` lines ends there. Otherwise 0.
constexpr std::int64_t side_of_blocks_one_apart(std::int64_t first, std::int64_t all) {
  for (std::int64_t side = 1024; side >= 8; side /= 2) {
    const std::int64_t blocks = ceil_div(all, side);
    if (blocks > 1 && first == side + blocks - 1) return side;
  }
  return 0;
}
static_assert(side_of_blocks_one_apart(33, 64) == 32 && side_of_blocks_one_apart(32, 64) == 0);

}  // namespace stepwise
