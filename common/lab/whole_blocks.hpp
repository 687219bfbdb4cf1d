// lacks_whole_blocks(): whether more than the partial block at an edge is missing.
#pragma once

#include <cstdint>

namespace stepwise {

// True if all lines from `first` on, of `all`, are more than one block could hold that is not full.
// `first` is taken to be a multiple of a block's side, a power of two of at least 8.
constexpr bool lacks_whole_blocks(std::int64_t first, std::int64_t all) {
  const std::int64_t largest_side = first & -first;
  return largest_side >= 8 && all - first >= largest_side;
}

}  // namespace stepwise
