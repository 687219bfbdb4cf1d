// attack reduction: COMPILE, at most 0 points
// has a constant whose evaluation never ends
#include "labs/reduction/reduction.hpp"

constexpr long spin() {
  long sum = 0;
  for (long i = 0; i < 1L << 60; ++i) sum += i;
  return sum;
}
constexpr long found = spin();

void reduce(const int*, int*, int*, int) {}
