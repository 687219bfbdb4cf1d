// `lab dev validate LAB --profiles`: the time model's profile of each step beside ncu's, live or as
// recorded.
#pragma once

#include <string>
#include <vector>

#include "grader/cli/context.hpp"

namespace stepwise::cli {

struct profiles_request {
  std::vector<std::string> steps;  // empty: all
  std::vector<lab_size> sizes;     // empty: the size that the model takes
  bool record = false;    // keep what ncu counted: solutions/LAB/measured/GPU.profiles.jsonl
  bool recorded = false;  // compare with what is kept: no GPU
};

int validate_profiles(context& c, const lab& l, const profiles_request& request);

}  // namespace stepwise::cli
