// Distinguishes missing blocks from a missing partial block at an edge.
#pragma once

#include <cstdint>

namespace stepwise {

// True if the lines from `first` to `all` would fill at least one whole block. The block's side is
// taken to be the largest power of two that divides `first`, and to be at least 8.
constexpr bool lacks_whole_blocks(std::int64_t first, std::int64_t all) {
  const std::int64_t largest_side = first & -first;
  return largest_side >= 8 && all - first >= largest_side;
}

}  // namespace stepwise
