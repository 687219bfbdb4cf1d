// Describes a sweep's figures in sentences computed from its points, never from expectations.
//
// idea    A configuration is as good as the best one unless their intervals differ by more than 2
//         %. Occupancy beyond the lowest occupancy among those configurations does not help.
// watch   Counters are not times, so without times no configuration is called faster. Modelled
//         times have an error instead of an interval: times that differ by less than the model's
//         median error count as equal.
// Tested by tests/sweep_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/measure/sweep.hpp"

namespace stepwise {

inline constexpr double as_good = 1.02;  // ratio to the best time
// An assumption, used if the model was never compared with measured times.
inline constexpr double unknown_model_error = 0.1;

struct sweep_view {
  const std::vector<swept_axis>& axes;
  const std::vector<sweep_point>& points;
  const goal_counter* counter = nullptr;  // the main counter; null: instructions
  int multiprocessors = 0;                // of `gpu_name`; 0: unknown
  std::string gpu_name;                   // for multiprocessors and occupancy
  // The model's median relative error, if times are modelled.
  std::optional<double> model_error = {};

  bool timed() const;
  bool modelled() const;  // timed, and not measured
  // The ratio to the best time up to which a time counts as equally good.
  double alike() const;
};

// Theoretical occupancy in percent. Empty if no block fits or nothing was counted.
std::optional<double> occupancy_percent(const sweep_point& point);

// A point's figure in a chart.
struct chart_figure {
  double value = 0;
  std::string text;
};
// The counter, or the warp instructions of the call. With several sizes, warp instructions per
// thousand operations of the problem. Empty if the point is not right or has no such figure.
std::optional<chart_figure> counted_figure(const sweep_view& view, const sweep_point& point);
// Work per time if points were timed, otherwise counters.
std::optional<chart_figure> figure_of(const sweep_view& view, const sweep_point& point);
// "rate (measured, higher is better)"
std::string figure_title(const sweep_view& view);

// Whether a point is as good as the best of its size, judged by times. False if not timed.
bool is_among_the_best(const sweep_view& view, const sweep_point& point);

// The sweep's results in sentences: best configurations, occupancy, counters, warnings.
std::vector<std::string> sweep_sentences(const sweep_view& view);

}  // namespace stepwise
