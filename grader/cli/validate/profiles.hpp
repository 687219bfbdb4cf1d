// `lab dev validate LAB --profiles`: compares the time model's profile of each step with ncu's,
// live or as recorded.
#pragma once

#include <string>
#include <vector>

#include "grader/cli/context.hpp"

namespace stepwise::cli {

struct profiles_request {
  std::vector<std::string> steps;  // empty: all
  std::vector<lab_size> sizes;     // empty: the model's size
  bool record = false;             // keep ncu's figures: solutions/LAB/measured/GPU.profiles.jsonl
  bool recorded = false;           // compare with the kept figures; needs no GPU
};

int validate_profiles(context& c, const lab& l, const profiles_request& request);

}  // namespace stepwise::cli
