// Modelled times of a sweep's points, for use without a GPU.
// Tested by cli/tests/sweep_cli_test.cpp.
#pragma once

#include <vector>

#include "grader/judge/check.hpp"
#include "grader/measure/sweep.hpp"

namespace stepwise {

// Models the correct points, each at its own size. A point that exceeds `patience_s`, or for which
// the model has no time, gets a reason instead.
void model_points(const sweep_run& run, std::vector<sweep_point>& points, double patience_s,
                  const activity& now);

}  // namespace stepwise
