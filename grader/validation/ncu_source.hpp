// What ncu counted of each source line: its source page, as CSV.
//
// idea    `--page source --print-source cuda,sass` prints, for each launch and each file that its
//         code comes from, every line with machine code, and after it that code. Accesses are read
//         from the machine code's rows, which describe one access each; the rest from the line's.
// watch   ncu does not escape quotes in source text, so a row is taken apart from its end.
// source  Nsight Compute 2025.3, as seen. Tested by tests/ncu_source_test.cpp with a captured page.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/profile.hpp"

namespace stepwise {

struct ncu_line {
  std::string path;
  int line = 0;
  std::string text;  // without its indentation
  profile_counts counts;
  // Samples of warps by what they waited for there, and those that were issuing.
  std::array<double, stalls> samples{};
  double instructions = 0;  // of warps
  // The line's machine code, if ncu printed it: warp instructions whose results ncu's short
  // scoreboard waits for.
  bool has_machine_code = false;
  double special = 0;  // special functions
  double shared = 0;   // shared memory and shuffles
};

// By launch, in order. Empty where the programs have no line tables. failure(environment) if it is
// no such page.
std::vector<std::vector<ncu_line>> parse_ncu_source(std::string_view text);

}  // namespace stepwise
