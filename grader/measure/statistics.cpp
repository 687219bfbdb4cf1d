// Sorts the values. An interval's ends are ranks of the binomial distribution.
#include "grader/measure/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace stepwise {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

interval median_interval(std::vector<double> values, double confidence) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  // An interval that omits m values on each side misses the median if at most m values lie on one
  // side of it, which happens with probability 2 P(Binomial(n, 1/2) <= m).
  double probability = std::pow(0.5, static_cast<double>(n));  // for exactly m values
  double missed = 0;
  std::size_t left_out = 0;
  for (std::size_t m = 0; 2 * m + 1 <= n; ++m) {
    missed += 2 * probability;
    if (missed > 1 - confidence) break;
    left_out = m;
    probability *= static_cast<double>(n - m) / static_cast<double>(m + 1);
  }
  return {values[left_out], values[n - 1 - left_out]};
}

}  // namespace stepwise
