#include "grader/grade/host_time.hpp"

#include <algorithm>

#include "grader/measure/statistics.hpp"

namespace stepwise {

double allowed_host_ms(const std::vector<double>& empty_calls_ms,
                       const std::vector<std::vector<double>>& rivals_ms) {
  double allowed = 0;
  if (!empty_calls_ms.empty()) {
    std::vector<double> sorted = empty_calls_ms;
    std::sort(sorted.begin(), sorted.end());
    allowed = sorted[(99 * sorted.size() - 1) / 100];
  }
  for (const auto& calls : rivals_ms) allowed = std::max(allowed, median(calls));
  return allowed;
}

std::vector<double> times_that_count(const std::vector<double>& device_ms,
                                     const std::vector<double>& host_ms, double allowed_ms) {
  std::vector<double> beyond = host_ms;
  for (double& ms : beyond) ms = std::max(0.0, ms - allowed_ms);
  std::vector<double> sorted = beyond;
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> times = device_ms;
  for (std::size_t r = 0; r < times.size(); ++r)
    times[r] += std::min(beyond[r], sorted[sorted.size() / 2]);
  return times;
}

}  // namespace stepwise
