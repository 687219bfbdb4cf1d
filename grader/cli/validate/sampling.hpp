// `lab dev validate LAB --sampling`: compares the time model's result for a sample of blocks with
// its result for whole launches.
#pragma once

#include <string>
#include <vector>

#include "grader/cli/context.hpp"

namespace stepwise::cli {

// If `steps` is empty: all steps. If `sizes` is empty: the size that `walk` counts.
int validate_sampling(context& c, const lab& l, const std::vector<std::string>& steps,
                      const std::vector<lab_size>& sizes);

}  // namespace stepwise::cli
