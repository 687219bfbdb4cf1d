// Reads ncu's counters per source line from its source page, as CSV.
//
// idea    For each launch and each of its source files, `--page source --print-source cuda,sass`
//         prints every line with machine code, followed by that code. Accesses are read from the
//         rows of machine code, which describe one access each. The other counters are read from
//         the line's row.
// watch   ncu does not escape quotes in source text, so a row is parsed from its end.
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
  // Samples by the reason for which the warp waited, and samples of warps that were issuing.
  std::array<double, stalls> samples{};
  double instructions = 0;  // warp instructions
  // The line's machine code, if ncu printed it: warp instructions whose results ncu's short
  // scoreboard waits for.
  bool has_machine_code = false;
  double special = 0;  // special functions
  double shared = 0;   // shared memory and shuffles
};

// The lines of each launch, in order. Empty if the program has no line tables. Throws
// failure(environment) if the text is not such a page.
std::vector<std::vector<ncu_line>> parse_ncu_source(std::string_view text);

}  // namespace stepwise
