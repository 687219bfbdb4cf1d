// `lab dev validate LAB --sampling`: what the time model says from a sample of blocks, beside what
// it says of whole launches.
#pragma once

#include <string>
#include <vector>

#include "grader/cli/context.hpp"

namespace stepwise::cli {

// `steps` and `sizes`: these only; empty: all, and the size that `walk` counts.
int validate_sampling(context& c, const lab& l, const std::vector<std::string>& steps,
                      const std::vector<lab_size>& sizes);

}  // namespace stepwise::cli
