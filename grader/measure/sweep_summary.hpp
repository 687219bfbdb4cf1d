// What a sweep's figures say, in sentences: computed from its points, never from what is expected.
//
// idea    A configuration is as good as the best where the intervals do not separate them by more
//         than 2 %. The least occupancy among those is where occupancy stops mattering.
// watch   Counts are no time: without one nothing is said of what is faster. Modelled times have no
//         interval, but an error: those that differ by less than half of the model's times are off
//         count as alike.
// Tested by tests/sweep_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/measure/sweep.hpp"

namespace stepwise {

inline constexpr double as_good = 1.02;  // times the best's time
// Where the model was never compared with measured times: an assumption.
inline constexpr double unknown_model_error = 0.1;

struct sweep_view {
  const std::vector<swept_axis>& axes;
  const std::vector<sweep_point>& points;
  const goal_counter* counter = nullptr;  // what is counted, above all; null: instructions
  int multiprocessors = 0;                // of `gpu_name`; 0: unknown
  std::string gpu_name;                   // whose multiprocessors and occupancy these are
  // Of the model, where times are modelled: half of its times are off by no more (a share).
  std::optional<double> model_error = {};

  bool timed() const;
  bool modelled() const;  // timed, and not measured
  // Times the best's time, up to which a time is as good.
  double alike() const;
};

// Theoretical, in per cent; nothing where no block fits or nothing was counted.
std::optional<double> occupancy_percent(const sweep_point& point);

// What a chart shows of a point.
struct chart_figure {
  double value = 0;
  std::string text;
};
// The counter or the warp instructions of the call; for several sizes, instructions are those for a
// thousand operations of the problem. None if the point is not right or has no such figure.
std::optional<chart_figure> counted_figure(const sweep_view& view, const sweep_point& point);
// Work over time where points were timed, else what was counted.
std::optional<chart_figure> figure_of(const sweep_view& view, const sweep_point& point);
// "rate (measured, higher is better)"
std::string figure_title(const sweep_view& view);

// Whether a point is as good as the best of its size, as far as times show. False if not timed.
bool is_among_the_best(const sweep_view& view, const sweep_point& point);

// What the sweep shows, each in a sentence: the best configurations, occupancy, counts, warnings.
std::vector<std::string> sweep_sentences(const sweep_view& view);

}  // namespace stepwise
