// How far the student's own files are, for `lab list`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/cli/context.hpp"
#include "grader/course/progress.hpp"

namespace stepwise::cli {

// What a command (`by`) found of the student's own file, not of another or a step.
// With `goals`, its goals were judged: their names, and the points.
struct goals_met {
  std::vector<std::string> names;
  double points = 0;
};
void remember_own(const context& c, const lab& l, const subject& s, const char* by, verdict found,
                  const std::optional<goals_met>& goals = {});

}  // namespace stepwise::cli
