// solutions/LAB/measured/differs.toml: the cases where the emulator is known to count differently
// from a GPU, each with its reason.
//
// idea    A listed difference is shown but does not fail. Any other difference fails. An entry
//         without a difference to excuse fails as well, so the list cannot outlive its reasons.
// Tested by tests/validation_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "grader/validation/validation.hpp"

namespace stepwise {

struct known_difference {
  std::vector<std::string> steps;
  std::vector<lab_size> sizes;  // empty: every size
  std::vector<std::string> counters;
  std::string why;
};

// Empty if there is no such file. Throws failure(ours), which names the file and its error: an
// unknown step, an unknown counter, no reason.
std::vector<known_difference> load_known_differences(const fs::path& root, const lab& l);

struct excused {
  std::vector<const known_difference*> used;    // they excuse at least one counter
  std::vector<const known_difference*> unused;  // although all that they list was compared
};

// Marks the counters in `known` as conclusion::known instead of conclusion::differs. A kernel
// without other differences then holds.
excused excuse(validation& v, const std::vector<known_difference>& known);

}  // namespace stepwise
