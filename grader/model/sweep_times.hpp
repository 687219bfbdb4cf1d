// The times of a sweep's points by the time model, where there is no GPU to measure them.
// Tested by cli/tests/sweep_cli_test.cpp.
#pragma once

#include <vector>

#include "grader/judge/check.hpp"
#include "grader/measure/sweep.hpp"

namespace stepwise {

// Models the points that are right, each with its own size. One that takes longer than
// `patience_s`, or that the model has no time of, says why instead.
void model_points(const sweep_run& run, std::vector<sweep_point>& points, double patience_s,
                  const activity& now);

}  // namespace stepwise
