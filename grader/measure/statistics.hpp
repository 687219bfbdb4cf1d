// Medians, and intervals for them that assume nothing about the distribution.
//
// Tested by tests/measure_test.cpp.
#pragma once

#include <vector>

namespace stepwise {

// 0 if there are no values. For an even count, the mean of the middle two values.
double median(std::vector<double> values);

struct interval {
  double low = 0, high = 0;
};

// The interval between two order statistics that contains the median with at least the given
// confidence, by the binomial distribution (sign test). Returns the whole range if there are too
// few values (fewer than 6 for 95 %). Source: Conover, Practical Nonparametric Statistics, section
// 3.2.
interval median_interval(std::vector<double> values, double confidence = 0.95);

}  // namespace stepwise
