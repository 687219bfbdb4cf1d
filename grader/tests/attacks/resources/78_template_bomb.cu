// attack reduction: COMPILE, at most 0 points
// has templates that double at every level
#include "labs/reduction/reduction.hpp"

template <int level, class Path>
struct bomb {
  struct left {};
  struct right {};
  static constexpr long value = bomb<level - 1, left>::value + bomb<level - 1, right>::value;
};
template <class Path>
struct bomb<0, Path> {
  static constexpr long value = 1;
};
static_assert(bomb<26, int>::value > 0);

void reduce(const int*, int*, int*, int) {}
