// solutions/LAB/measured/differs.toml: where the emulator is known not to count what a GPU counts,
// each with its reason.
//
// idea    A difference that is listed is shown, and does not fail; any other does. An entry that
//         has nothing to excuse any more fails as well, so the list cannot outlive its reasons.
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

// Without the file: none. failure(ours) names the file and what is wrong in it: a step that the lab
// has not got, an unknown counter, no reason.
std::vector<known_difference> load_known_differences(const fs::path& root, const lab& l);

struct excused {
  std::vector<const known_difference*> used;    // by at least one counter that differs
  std::vector<const known_difference*> unused;  // though all that it lists was compared
};

// Marks what `known` lists, conclusion::known instead of conclusion::differs; a kernel in which
// nothing else differs holds.
excused excuse(validation& v, const std::vector<known_difference>& known);

}  // namespace stepwise
