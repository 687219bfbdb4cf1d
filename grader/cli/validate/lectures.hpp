// `lab dev validate LAB --lectures`: what lectures publish, beside what the time model says of it.
#pragma once

#include <string>
#include <vector>

#include "grader/cli/context.hpp"

namespace stepwise::cli {

// `steps`: these only; empty: all. `record` keeps it in solutions/LAB/lectures.json.
int validate_lectures(context& c, const lab& l, const std::vector<std::string>& steps, bool record);

}  // namespace stepwise::cli
