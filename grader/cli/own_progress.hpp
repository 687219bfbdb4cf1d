// The progress of the student's own files, for `lab list`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/cli/context.hpp"
#include "grader/course/progress.hpp"

namespace stepwise::cli {

// Records the result of a command (`by`) for the student's own file, but not for other files or
// steps. `goals` is given if its goals were judged: the names of the goals it met, and its points.
struct goals_met {
  std::vector<std::string> names;
  double points = 0;
};
void remember_own(const context& c, const lab& l, const subject& s, const char* by, verdict found,
                  const std::optional<goals_met>& goals = {});

}  // namespace stepwise::cli
